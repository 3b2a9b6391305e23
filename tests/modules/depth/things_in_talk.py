"""Tasks in the words of talk: of a drawn sun, a hero of a game, an entry of a calendar."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

_ENGLISH = """
thanks, lunch on friday | i love the sun better | we have lunch on friday | they are too fast
i have lunch on friday with mom | they're too quick | he is too fast | thanks, the sun is too big
i love the old one | you put the sun in the wrong place | it's the wizard | there's a star
the star is too big | the rain is too quick | you made the sun too big | it feels too fast
have the hero say hello | lunch on friday | weather for tomorrow | the snow is so fast
the cat is pretty slow | the hero looks too small | the sun feels too bright
the wizard is too fast | the smile is too wide | it looks too big | it sounds too loud
it's too fast | this is too long | that was too short | it is very big | the life is too short
you made it too big | you made it too warm | you made the smile too wide
you gave the hero too many hats | make the sun smile | have the dog run faster
have the wizard laugh | have a hero | have the sun smile | have them meet on monday
have it rain | let it snow | let the hero sleep | dinner at noon | meeting on monday
birthday of mom | flight to the city | coffee at noon | weather in the city | weather | birthday
sun | the hero | snow in winter | the weather tomorrow | holiday in august
the hero should smile | i like the big one | i like yesterday's better | i like the old one
i love the first one | i like how it was | i feel the old one was better
i think the cat is better | i thought the hero was a dog | the hero was better yesterday
the hero is late | the star is not big | the sun goes up too late | the cat is always asleep
the train is late | the bus is quick | the champion is the dog | friday is fine
friday is better | monday at noon | tomorrow at noon | the hero is my dog | the title is cute
the sun was better yesterday | i wanted the sun | i expected rain | i hoped the hero was warm
the hero is so small | your hero is too cute | the snow stopped | this weather | dog
hello world | star | sunshine | more snow | less rain | the heart is too big
the heart is a little big | the heart is a bit big | you and the hero meet at the beach
all the stars | the smile of the hero | smile | laugh | it should rain | it rains too early
the phone is warm | the music is too loud | hope is the hero | joy and hope | snow and rain
sun and rain | the heroes are late | the hero speaks too fast | everyone laughs too early
everything is too big | everything is so slow | everything is quick | the sun comes up too early
the sun is up | the weather is wrong | the hero has two hats | the magic is gone
the magic isn't there | the cat isn't in the house | the dog is in the park | the snow is here
the hero is out of the house | the sun is over the house | the hero is the sun
sorry the sun is too big | oh the sun is too big | the hero looks sad
you made the hero look like a cat | you put the sun in the house | you left the dog out
you put the hat on the dog | you took the sun out | my birthday is in august
my meeting is on friday | my flight is on monday at noon | our meeting is in the morning
we meet on friday | lunch is at noon | the meeting is at noon | the meeting was yesterday
dinner is late | a happy birthday | a birthday card | a big sun | a cute cat | cute cat
funny cat | happy hero | big sun | a hat for the cat | hero of the day | weather for the weekend
weather this weekend | weather today | birthday wishes | birthday wishes for mom
happy birthday to mom | christmas wishes for the team | jokes | a joke | news | the news
news of the day | news today | time | the time | the time in the city | today | tomorrow
friday | the rain is too heavy | the storm is so fast | the sunshine is too warm
the angel is too small | this hero is too quick | that star is too big for the sun
my hero is too fast | her smile is too big | the laugh is too short | the snow looks too warm
it goes too fast | it runs too fast | it was too quick | this feels too safe
they made the sun too small | you made the hero too kind | you made it too quiet
you gave the cat too much coffee | have the angel say goodbye | have the sun come up
have it say hello to everyone | have them say good morning | have everyone laugh
have the cat sleep on the couch | have a cat in the house | breakfast at home | brunch on sunday
dinner with family on saturday | coffee with friends tomorrow | tea for the kids
vacation in july | holidays in december | nap at noon | weather on monday | weather yesterday
weather this week | snow tomorrow | storm on sunday | christmas with the kids
birthday tomorrow | birthday on friday | sunny day | rainy day at the beach | snowy night
happy cat | sleepy dog | beautiful garden | fast car | busy station | wedding lunch
the angel is at home | the wizard is in the garden | the smile is gone | the magic word
the hero and the dog | a star for the hero | the boss is the wizard | morning news
evening news | weekend plan | holiday plan | lunch plan | lunch plan for friday | dinner plan
sleep time | bed time | coffee break at noon | have the hero laugh on friday
have a cat sleep in the house
""".replace("\n", " | ").split(" | ")[1:-1]

_CHINESE = """
我周三开会 | 我们周五开会 | 我们周五吃饭 | 我喝奶茶
太阳太大了 | 开会时间是周三 | 我觉得昨天的漂亮 | 我喜欢那个大的 | 天气 | 生日 | 老师 | 奶茶
太阳太小了 | 雨下得太大了 | 天气太热了 | 蛋糕太大了 | 太阳太美了 | 朋友太多了 | 时间太早了
咖啡太多 | 心情太差 | 标题太大了 | 太阳有点大 | 老师的时间是周三 | 开会是下午
我觉得还是昨天的好 | 还是昨天的好 | 我喜欢昨天的 | 还是大的漂亮 | 大的漂亮 | 昨天的好
我感觉大的好 | 我觉得早上好 | 我觉得大的舒服 | 喜欢那个大的 | 太阳 | 咖啡 | 蛋糕 | 朋友 | 彩虹
孩子 | 火锅 | 旅游 | 妈妈生日 | 老师的生日 | 周五开会 | 明天开会 | 下午开会 | 明天天气
今天天气 | 明天的天气 | 周末旅行 | 生日祝福 | 祝福 | 生日快乐的蛋糕 | 我的生日是周五
生日是明天 | 太阳在下 | 太阳和彩虹 | 太阳在彩虹下 | 太阳在下面 | 孩子在跑步 | 孩子喝奶茶
兄弟的名字 | 大的 | 小的 | 昨天的 | 那个 | 好的那个 | 那个漂亮 | 这个漂亮 | 那个好 | 这个太大
那个太大了 | 这也太大了 | 大了 | 太大了 | 太多了 | 太早了 | 太晚了 | 有点大 | 有点多 | 有点晚
有点快 | 晚了 | 快了 | 慢了 | 天气是晴天 | 明天是晴天 | 中午吃饭 | 下班时间 | 上班时间
休息时间 | 放假时间 | 开会 | 加班 | 出差 | 跑步 | 加班时间 | 下班时间太早了 | 下班时间是下午
我的时间太早了 | 漂亮的太阳 | 可爱的太阳 | 老师喜欢太阳 | 妈妈的蛋糕 | 我的咖啡 | 我的老师
一杯咖啡 | 一杯奶茶 | 好多太阳 | 很多朋友 | 朋友和老师 | 我要那个大的 | 被太阳 | 太阳被麻烦
开心的孩子 | 专业的老师 | 高效的专家 | 英雄 | 天才 | 专家 | 帅的那个 | 香的那个 | 你说得太多
我觉得太大了 | 我觉得有点大 | 感觉太大了 | 感觉有点大 | 我觉得太早了 | 我觉得不错但太大
一个太阳 | 两个太阳 | 太阳是我的 | 我的太阳太大了 | 我的太阳呢 | 你的太阳太大了 | 你的太阳太大
雨太大 | 雪下得太大 | 生日蛋糕太大了 | 彩虹太小了 | 太阳太快了 | 咖啡太热了 | 我的咖啡太冷了
孩子的心情太好了 | 老师太快了 | 奶茶太多了 | 午饭时间是中午 | 生日是周六 | 下班是晚上
旅行时间是下周 | 休息是中午 | 我觉得今天的好 | 我觉得那个漂亮 | 我觉得蛋糕漂亮 | 感觉昨天的舒服
我还是喜欢昨天的 | 还是昨天的漂亮 | 我喜欢今天的 | 我喜欢太阳 | 我喜欢那个 | 喜欢昨天的那个
春节 | 中秋 | 外卖 | 早饭 | 家人 | 大佬 | 旅行 | 周末 | 晴天 | 心情 | 妈妈 | 喝茶 | 午休 | 散步
周末天气 | 下周天气 | 后天下雨 | 明天下雪 | 昨天的咖啡 | 昨天的奶茶 | 可爱的孩子 | 温暖的太阳
美的太阳 | 好看的彩虹 | 新年祝福 | 春节祝福 | 妈妈的生日 | 老师的蛋糕 | 孩子的生日是明天
朋友的生日 | 节日和假期 | 咖啡和奶茶 | 中秋的时候 | 太阳和孩子 | 孩子和太阳和彩虹 | 这个舒服
那个好玩 | 那个可爱 | 大的可爱 | 早的好 | 快的好
""".replace("\n", " | ").split(" | ")[1:-1]
TASKS_IN_WORDS_OF_TALK = [*_ENGLISH, *_CHINESE]
