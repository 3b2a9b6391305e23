from modules.cli.greeting import fitted


def test_a_hint_breaks_between_its_parts_and_nowhere_else() -> None:
    hint = "/help 查看命令 · @ 引用文件 · Ctrl-C stops, twice leaves"
    assert fitted(hint, 100) == [hint]
    assert fitted(hint, 30) == ["/help 查看命令 · @ 引用文件", "Ctrl-C stops, twice leaves"]
    assert fitted(hint, 5) == ["/help 查看命令", "@ 引用文件", "Ctrl-C stops, twice leaves"]
