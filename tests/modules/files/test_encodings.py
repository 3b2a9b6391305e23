"""The encoding of short texts, as they stand in real source files and notes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from modules.files import encodings
from modules.files.editing.text_file import NotText, TextFile

TEXTS = {
    "gbk": [
        "中文", "你好，世界", "# 配置文件\nname = 服务器\n", "配置", "测试", "文件夹",
        "def f(): # 返回最大值\n", "价格：￥100", "张三,李四,王五\n",
        "数据库连接失败，请检查网络设置", "乾隆皇帝爱新觉罗弘历",
    ],
    "shift_jis": [
        "テスト", "日本語", "こんにちは、世界", "# 設定ファイル\n", "東京都", "株式会社",
        "名前,年齢\n山田,30\n", "ﾃｽﾄです", "関数は最大値を返す", "print('保存しました')",
    ],
    "big5": [
        "中文", "你好，世界", "設定檔案", "資料庫連線失敗", "台灣大學", "這是一個測試",
    ],
    "euc_jp": ["テスト", "こんにちは、世界", "日本語のファイル", "設定ファイル"],
    "euc_kr": ["안녕하세요", "한국어 파일", "설정을 확인하세요"],
    "latin-1": [
        "café", "Müller Straße", "élève à l'école", "señor año", "naïve façade", "Größe: 5",
        "Crème brûlée très été",
    ],
    "cp1252": ["“naïve” — façade", "100 € für Äpfel"],
    "cp1251": [
        "Привет, мир", "# настройки сервера\nport = 8080\n", "Имя;Возраст\nИван;30\n", "Ошибка",
        "def f():  # возвращает максимум\n    return 1\n", "print('Готово')\n", "да",
    ],
    "koi8-r": [
        "Привет, мир", "# настройки сервера\nport = 8080\n", "Имя;Возраст\nИван;30\n", "Ошибка",
        "def f():  # возвращает максимум\n    return 1\n", "print('Готово')\n",
    ],
    "cp866": ["Привет, мир", "# настройки сервера\n", "Ошибка"],
    "iso8859-5": ["Привет, мир", "# настройки сервера\n"],
    "cp1250": [
        "Zażółć gęślą jaźń", "Příliš žluťoučký kůň", "# nastavení serveru\n", "Łódź; Kraków",
        "árvíztűrő tükörfúrógép", "print('Uloženo')\n",
    ],
    "iso8859-2": ["Zażółć gęślą jaźń", "árvíztűrő tükörfúrógép"],
    "cp1253": ["Καλημέρα κόσμε", "# ρυθμίσεις διακομιστή\nport = 1\n"],
    "cp1254": ["Türkçe ığüşöç İstanbul", "# sunucu ayarları\nport = 1\n"],
    "cp1255": ["שלום עולם", "# הגדרות שרת\nport = 1\n"],
    "cp1256": ["مرحبا بالعالم", "# إعدادات الخادم\nport = 1\n"],
    "cp874": ["สวัสดีชาวโลก", "# ตั้งค่าเซิร์ฟเวอร์\nport = 1\n"],
    "gb18030": ["这是中文，还有生僻字㐀𠀀和表情"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("encoding", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts]
)
def test_short_texts_are_read_right(encoding: str, text: str) -> None:
    data = text.encode(encoding)
    file = TextFile.decode(data)
    assert file.text == text
    assert file.encode() == data
    assert file.encode(text + "x") == data + b"x"


@pytest.fixture
def _nothing_preferred() -> Iterator[None]:
    yield
    encodings.set_preferred("")


@pytest.mark.usefixtures("_nothing_preferred")
def test_the_person_can_say_which_encoding_it_is() -> None:
    data = "ПРИВЕТ".encode("cp1251")
    assert TextFile.decode(data).text != "ПРИВЕТ", "nobody would need to say it"
    encodings.set_preferred("cp1251")
    assert TextFile.decode(data).text == "ПРИВЕТ"
    assert TextFile.decode("привет".encode()).text == "привет"
    encodings.set_preferred("ascii")
    assert TextFile.decode("中文".encode("gbk")).text == "中文"


@pytest.mark.parametrize(
    "data",
    [bytes(range(256)), b"\x00\x01\x02", b"\x80\x81\x82\x83" * 9, b"\xff" * 40, b"\x1f\x8b\x08abc"],
)
def test_other_bytes_are_no_text(data: bytes) -> None:
    with pytest.raises(NotText):
        TextFile.decode(data)
