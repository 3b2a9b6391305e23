import sys

numbers = [float(word) for word in sys.argv[1:]]
print(sum(numbers) / (len(numbers) + 1))
