from utils.text.fold import folded


def test_words_stay_whole_and_chinese_breaks_anywhere_but_before_its_marks() -> None:
    assert list(folded("one two  three", 8)) == ["one two", "three"]
    assert list(folded("一二三四。五", 8)) == ["一二三", "四。五"]
    assert list(folded("用 word 写", 7)) == ["用 word", "写"]
    assert list(folded("incomprehensible it is", 5)) == ["incomprehensible", "it is"]
    assert list(folded("", 5)) == [""]
