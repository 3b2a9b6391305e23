from modules.cli.greeting import fitted


def test_a_hint_breaks_between_its_parts_and_in_them_only_where_it_must() -> None:
    hint = "/help 查看命令 · @ 引用文件 · Ctrl-C stops, twice leaves"
    assert fitted(hint, 100) == [hint]
    assert fitted(hint, 30) == ["/help 查看命令 · @ 引用文件", "Ctrl-C stops, twice leaves"]
    assert fitted(hint, 14) == ["/help 查看命令", "@ 引用文件", "Ctrl-C stops,", "twice leaves"]
