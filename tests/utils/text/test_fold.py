from utils.text.fold import wrapped


def test_words_stay_whole_and_chinese_breaks_anywhere_but_before_its_marks() -> None:
    assert list(wrapped("one two  three", 8)) == ["one two", "three"]
    assert list(wrapped("一二三四。五", 8)) == ["一二三", "四。五"]
    assert list(wrapped("用 word 写", 7)) == ["用 word", "写"]
    assert list(wrapped("incomprehensible it is", 5)) == ["incomprehensible", "it is"]
    assert list(wrapped("", 5)) == [""]
