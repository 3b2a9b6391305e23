from modules.cli.render.greeting import append_part, fit_rows


def test_a_hint_breaks_between_its_parts_and_in_them_only_where_it_must() -> None:
    hint = "/help 查看命令 · @ 引用文件 · Ctrl-C stops, twice quits"
    assert fit_rows(hint, 100) == [hint]
    assert fit_rows(hint, 30) == ["/help 查看命令 · @ 引用文件", "Ctrl-C stops, twice quits"]
    assert fit_rows(hint, 14) == ["/help 查看命令", "@ 引用文件", "Ctrl-C stops,", "twice quits"]


def test_what_does_not_fit_beside_the_project_goes_below_it() -> None:
    lines = [("bold", "Onefold  项目")]
    for part in ("a model", "fast"):
        lines = append_part(lines, "", part, 22)
    assert "".join(text for _, text in lines) == "Onefold  项目\na model · fast"
