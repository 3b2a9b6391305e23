"""Words of talk: of people, feelings, the day and the weather, in English and Chinese.

A line of nothing but these, one of them a word that says what talk is about, asks for no work: what
work is done on, and with, has other words. So the list may be long without a task among its lines.
"""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from modules.depth.talk_of_things import (
    is_about_people_in_chinese,
    names_a_thing,
    names_a_thing_in_chinese,
)

_FUNCTION_WORDS = """
a an the this that these those my your our his her their its i you he she it we they me him us
them am is are was were be been being 's 're have has had having did will gonna gotta wanna and or
so too very really quite pretty such just of to in on at for from with by as about than like up
out over off around here there again always already ever even almost both all each every everyone
everybody everything some bit little lot lots much many more most yet i'm im i've ive i'll i'd
you're youre you've youve you'll it's that's thats he's she's we're we've they're there's here's
what's how's who's couldn't what how when well oh ah ooh aww hey hi hello yeah yep ok okay right
sure back soon later once while away ahead together anyway though indeed truly honestly literally
seriously absolutely totally completely perfectly definitely certainly surely simply lately
especially extremely incredibly super last next now isn't wasn't yours mine turned short long
"""
_ABOUT_TALK = """
thank thanks thankful grateful gratitude appreciate appreciated cheers obliged bless blessed
blessing welcome greetings regards wishes hugs congratulations congrats kudos bravo hooray hurray
yay wow woah whoa phew haha lol merci gracias danke grazie arigato salut hola ciao bonjour adios
bye goodbye farewell goodnight morning afternoon evening weekend lunch dinner breakfast supper
brunch coffee tea beer wine bed sleep nap vacation holiday holidays birthday christmas easter
merry finally pouring weather rain raining rainy snow snowing snowy sun sunny sunshine storm
stormy windy chilly freezing happy happier tired exhausted sleepy hungry excited thrilled
delighted relieved relief proud glad pleased satisfied impressed amazed surprised touched
speechless stunned lucky honoured honored sorry apologies apologize apologise pardon busy delight
joy luck fun smile smiling laughing laugh funny hilarious ha heh hehe hey hi hello quick fast safe
great good nice lovely awesome amazing perfect perfection wonderful fantastic brilliant
excellent superb splendid marvelous marvellous terrific incredible outstanding beautiful gorgeous
impressive cool sweet neat stellar flawless fabulous phenomenal magnificent magic magical charming
adorable cute kind kindness generous thoughtful helpful patient patience friendly clever smart
genius star legend hero wizard magician champ champion boss rockstar angel treasure gem lifesaver
pro masterpiece pleasure smooth smoothly nicely beautifully love loved loving enjoy enjoyed miss
deserve owe worries mood energy heart hope wish appreciation compliments surprise surprises
wishing whew oof aw jeez gosh gee heavens goodness peace heartwarming wholesome uplifting
inspiring inspired refreshing refreshed relaxing relaxed rested cozy legendary epic dope stunning
breathtaking exquisite remarkable exceptional extraordinary astonishing astounding wonderfully
delightful delicious enjoyable entertaining fascinating encouraging supportive reliable wise
gifted talented skilled pleasant gracious respect respects salute aloha namaste ta cheerio ttyl
brb gtg tgif yw interesting insightful informative brilliantly superbly friend friends buddy mate
pal bro dude fella amigo
"""
_BESIDE_TALK = """
day days week month year years today tomorrow yesterday tonight monday tuesday wednesday thursday
friday saturday sunday january february april june july august september october november december
new old dear time times moment moments hour hours minute minutes life world home house office trip
journey travel flight train bus car walk gym break rest meeting phone call kids family wife
husband mom mum dad dog cat baby summer winter spring autumn warm cold hot better best well fine
alright feel feels felt feeling say said saying know knew going gone goes went come came coming
leave leaving heading head run running see seen saw seeing meet talk talking chat chatting catch
hear heard speak rock rocks nailed crushed rescued saved save made make makes making worked works
working helped help helps learned learnt learning thought expected hoped hoping wanted needed
imagined asked taken take care took got get getting given gave stay staying safe sound sounds plan
side stuff thing things way deal effort efforts job work team fast quick quickly easy easily big
huge whole million tons hard late early quiet crazy wild finished done anything nothing else news
noon midnight ladies gentlemen folks guys colleague colleagues partner boyfriend girlfriend son
daughter parents mother father brother sister sir madam school beach park city town airport
station garden couch sofa top number hats hat thumbs jokes joking kidding pretending traffic jam
brought bought ate slept woke cooked looks looking seems sounded one put smile face words bother
bothered distracted doing keep company board
"""
_STARTS_AN_ORDER = """
work help save make take keep get come leave run call break rest stay put say talk walk plan meet
have be see hear speak travel enjoy love like miss hope wish chat catch sleep smile laugh care
phone feel house home star train board head time deserve owe bless welcome sound know
"""
_WISHES = """
have a|have an|have fun|have the|take care|stay safe|stay well|sleep well|sleep tight|rest well
enjoy your|enjoy the|see you|see ya|talk to|talk soon|talk later|talk tomorrow|catch you|catch ya
hope you|hope your|hope all|hope everything|hope everyone|hope it|hope that|wish you|love it
love this|love that|like it|bless you|welcome back|welcome aboard|time for|speak soon
speak tomorrow|see everyone|chat soon|chat later|chat tomorrow|travel safe|get well|get some
miss you|feel better|home sweet
"""
"""What begins like an order, and is a wish."""
_ACTS = "make run put get take keep save break call leave"
_ACTORS = "i we they it that i'll you'll we'll to will gotta wanna gonna a the my your"
_THINGS = "a an the these those all both each every some more most one"
_PARTS = "of to in on at for from with by as"
"""What a clause without a verb begins with that may name what is to be done, or where."""
_VERBS = """
am is are was were been have has had did i'm im i've ive i'll i'd you're youre you've youve you'll
it's its that's thats he's she's we're we've they're there's here's what's how's
"""
_YOU = ("you", "you're", "you've", "youre", "youve")
_BEFORE_AGAIN = "thanks you much hello hi hey sorry welcome congratulations back"
_WANTED = "wanted needed asked expected hoped hoping imagined"
_PEOPLE = """
i i'm im i've ive i'll i'd you you're youre you've youve we we're we've me us my your our gotta
"""
_FILLERS = """
oh ah well ok okay so yeah yep right sure and today tomorrow tonight later soon anyway finally
indeed friday saturday sunday monday tuesday wednesday thursday again too isn't it yours
"""
_PIECES_ZH = """
我 你 您 他 她 咱 我们 你们 咱们 他们 大家 各位 自己 的 了 得 着 过 啊 呀 呢 吧 哦 啦 嘛 呗 哟 咯
哇 喔 噢 哎 唉 嘿 嗯 哈 诶 就 都 也 又 还是 还有 很 太 真 真的 真是 可真 可 非常 特别 十分 超 超级
挺 蛮 实在 简直 相当 有点 这么 那么 多么 确实 果然 是 在 有 这 那 这下 今天 明天 昨天 这周 本周
今年 明年 今晚 今早 昨晚 刚才 刚刚 终于 总算 一天 一整天 整天 这几天 最近 一直 每次 总是 一起 这边
外面 一会儿 待会儿 回头 改天 下次 下周 周一 周二 周三 周四 周五 周六 周日 后天 继续加油 大晚上
大半夜 半夜 早上 中午 下午 晚上 时候 时间 工夫 不少 好多 很多 许多 一口气 一个 一杯 杯 人 事 心 被
和 跟 对 为 以后 今后 如此 因为 所以 觉得 感觉 感到 陪 陪着 帮到 懂 明白 知道 学到 学会 省 省了 救
救了 久等 耽误 打扰 麻烦你 麻烦您 让你久等 让您久等 见面 见到 认识 遇到 好 大 多 早 晚 快 走 走了
我走 我去 去了 先 好好 晚点 注意 一切 个 的帮助 的支持 的陪伴 的讲解 的解答 的付出 的努力 过得
日子 消息
"""
_ABOUT_TALK_ZH = """
谢 谢谢 感谢 多谢 谢啦 感激 感恩 感动 辛苦 辛苦了 拜拜 再见 晚安 早安 早上好 晚上好 下午好 中午好
你好 您好 哈喽 嗨 哈哈 哈哈哈 嘻嘻 嘿嘿 呵呵 厉害 太棒 棒 牛 赞 完美 满意 愉快 快乐 高兴 开心 幸福
幸会 客气 佩服 贴心 给力 靠谱 够意思 讲义气 优秀 出色 精彩 漂亮 神了 绝了 惊艳 惊喜 舒服 舒坦 过瘾
爽 放心 安心 省心 省事 踏实 欣慰 松了 累 困 饿 冷 热 忙 好累 好困 好饿 好冷 好热 好忙 天气 下雨
下雪 刮风 打雷 晴天 阴天 出太阳 太阳 彩虹 下班 上班 收工 回家 睡觉 睡了 去睡 休息 吃饭 吃饭去 午饭
晚饭 早饭 午休 开会 喝咖啡 喝茶 喝杯 咖啡 奶茶 喝 放假 周末 假期 节日 生日 新年 过年 春节 中秋 祝
祝你 祝您 祝福 恭喜 加油 保重 好运 顺利 平安 健康 抱歉 对不起 不好意思 没关系 没事 别客气 不客气
过意不去 走神 兄弟 哥们 朋友 老铁 大佬 大神 高手 天才 专家 老师 亲 救星 宝藏 大忙 关照 指教
别放在心上 别往心里去 省了 救了 帮了 还麻烦你 你真 你太 你可 您真 您太 过奖 打扰了 好消息 好日子
好久没见 晚点聊 来晚了 迟到 失礼 费心 受累 有劳 劳驾 承蒙 荣幸 敬佩 羡慕 崇拜 好评 点赞 满分 乐死
帅 酷 妙 美 香 真香 稳 太强 强 硬核 良心 细致 周到 周全 到位 专业 高效 神速 迅速 利索 麻利 干得好
做得好 写得好 治愈 心情 哭了 破防 激动 兴奋 期待 想念 难得 圆满 胜利 完工 大吉 万岁 旅途 一路顺风
身体 家人 孩子 老婆 老公 妈妈 爸爸 早啊 早呀 夜深 深夜 熬夜 通宵 加班 堵车 出差 旅游 旅行 散步
健身 跑步 逛街 做饭 外卖 火锅 蛋糕 太好了 太好 有用 有帮助 帮大忙 见谅 原谅 包涵 累死 困死 饿死
忙死 冷死 热死 知道啦 明白啦 懂了 到这里 到这儿 到此为止 睡得好 多亏 幸好 幸亏 缘分 想你 爱你 爱了
喜欢 可爱 有趣 有意思 好玩 好笑 笑死 暖心 温暖 用心 耐心 细心 热心 聪明 机智 了不起 不愧 不错 没白
没想到 我回来 我来了 回见 又见面 明天见 有缘
"""
_THINGS_ZH = """
天气 下雨 下雪 刮风 打雷 晴天 阴天 出太阳 太阳 彩虹 下班 上班 收工 回家 睡觉 去睡 休息 吃饭
吃饭去 午饭 晚饭 早饭 午休 开会 喝咖啡 喝茶 喝杯 咖啡 奶茶 喝 放假 周末 假期 节日 生日 新年 过年
春节 中秋 祝福 兄弟 哥们 朋友 老铁 大佬 大神 高手 天才 专家 老师 亲 救星 宝藏 好消息 好日子 好评
旅途 身体 家人 孩子 老婆 老公 妈妈 爸爸 夜深 深夜 熬夜 通宵 加班 堵车 出差 旅游 旅行 散步 健身
跑步 逛街 做饭 外卖 火锅 蛋糕 缘分 心情 热 冷 忙 稳 强 快 迅速 专业 高效 健康 平安
"""
"""Words of talk that name a thing: a clause of no others is talk where a person is its subject."""
_MOST_SIGNS = 60
"""Characters of a clause that is looked at."""


@cache
def _drawn_out() -> re.Pattern[str]:
    """Return letters that are written more than twice: "awww"."""
    return re.compile(r"([a-z])\1{2,}")


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def is_talk(clause: str) -> bool | None:
    """Return whether *clause* is talk of people and the day; None where it may be of other things.

    False is talk that is a courtesy only beside one.
    """
    if len(clause) > _MOST_SIGNS:
        return None
    return _is_english_talk(clause.split()) if clause.isascii() else _is_chinese_talk(clause)


def _is_english_talk(words: list[str]) -> bool | None:
    words = [_drawn_out().sub(r"\1", word) for word in words]
    known = _words(_FUNCTION_WORDS) | _words(_ABOUT_TALK) | _words(_BESIDE_TALK)
    told_by = _words(_ABOUT_TALK).intersection(words)
    if not known.issuperset(words) or _may_ask(words) or names_a_thing(words, told_by):
        return None
    if told_by or _exclaims(words):
        return True
    about_people = not _words(_PEOPLE).isdisjoint(words) or _words(_FILLERS).issuperset(words)
    return False if about_people else None


def _exclaims(words: list[str]) -> bool:
    """Return whether words of talk wish something, cry out, or say what the reader is like."""
    start = " ".join(words[:2])
    ends = start in ("that's it", "that's all", "that is", "that was") and "for" in words
    likes = " ".join(words[:3]) in ("i really like", "i like how", "i like it", "i just like")
    cries = start in ("what a", "what an") or "such" in words
    return start in _wishes() or words[0] in _YOU or ends or likes or cries or start == "all the"


def _may_ask(words: list[str]) -> bool:
    """Return whether words of talk may be an order, a correction, or name what is to be done."""
    said = [word for word in words if word not in ("oh", "ah", "well", "ok", "okay", "so", "and")]
    if said[:1] == ["now"] or _wants_something(said):
        return True
    if said and said[0] in _words(_STARTS_AN_ORDER) and " ".join(said[:2]) not in _wishes():
        return True
    if said and said[0] in _words(_PARTS) and _words(_VERBS).isdisjoint(said):
        return _words(_ABOUT_TALK).isdisjoint(said)
    if said and said[0] in _words(_THINGS) and _words(_VERBS).isdisjoint(said):
        return said[:3] != ["all", "the", "best"]
    for number, word in enumerate(said):
        before, after = said[number - 1 : number], said[number + 1 : number + 2]
        praises = before == ["you"] and after in (["my"], ["me"], ["us"])
        is_act = before and word in _words(_ACTS) and before[0] not in _words(_ACTORS)
        if is_act and not praises:
            return True
    if "again" in said[1:] and said[said.index("again") - 1] not in _words(_BEFORE_AGAIN):
        return True
    wants = not _words(_WANTED).isdisjoint(said)
    return wants and not {"what", "everything", "than", "couldn't"} & set(said)


def _wants_something(said: list[str]) -> bool:
    """Return whether the words tell a wish of the person, or what the reader is to do."""
    pairs = list(pairwise(said))
    if said[:2] == ["take", "care"] and "of" in said:
        return True
    if any(one == "i'd" or (one in ("wish", "miss") and two != "you") for one, two in pairs):
        return True
    to_do = any(one in ("to", "will") and two in _words(_STARTS_AN_ORDER) for one, two in pairs)
    return said[:1] != [] and said[0] in _YOU and to_do


@cache
def _wishes() -> frozenset[str]:
    return frozenset(wish for line in _WISHES.strip().splitlines() for wish in line.split("|"))


def _is_chinese_talk(clause: str) -> bool | None:
    """Cut *clause* into known pieces from its beginning, whichever way leads to its end."""
    if names_a_thing_in_chinese(clause):
        return None
    about = _words(_ABOUT_TALK_ZH)
    pieces = _words(_PIECES_ZH)
    if not is_about_people_in_chinese(clause):
        about, pieces = about - _words(_THINGS_ZH), pieces | _words(_THINGS_ZH)
    reached: dict[int, bool] = {0: False}
    for start in range(len(clause)):
        if start not in reached:
            continue
        for end in range(start + 1, min(start + 6, len(clause)) + 1):
            piece = clause[start:end]
            if piece in about or piece in pieces:
                reached[end] = reached.get(end, False) or reached[start] or piece in about
    if len(clause) not in reached:
        return None
    return reached[len(clause)] or (
        False if clause[0] in "我你您咱今明下嘿嗯哦哎诶哇噢又行" else None
    )
