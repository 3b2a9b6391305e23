"""The encoding of short texts, as they stand in real source files and notes."""

from __future__ import annotations

import pytest

from modules.files.text_file import NotText, TextFile

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


@pytest.mark.parametrize(
    "data",
    [bytes(range(256)), b"\x00\x01\x02", b"\x80\x81\x82\x83" * 9, b"\xff" * 40, b"\x1f\x8b\x08abc"],
)
def test_other_bytes_are_no_text(data: bytes) -> None:
    with pytest.raises(NotText):
        TextFile.decode(data)
