"""Writes random messages with Python's email package, each with what it contains: a JSON list. Arguments: seed, count."""

import base64
import json
import random
import sys
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage

chance = random.Random(sys.argv[1])
TEXTS = {
    "utf-8": "Grüße, 한글 und €",
    "iso-8859-1": "Grüße aus Köln",
    "iso-8859-2": "Żółć i łódź",
    "windows-1251": "Привет всем",
    "koi8-r": "Добрый день",
    "iso-2022-jp": "日本語の請求書",
    "shift_jis": "会議の資料です",
    "euc-jp": "お世話になります",
    "gb2312": "测试邮件正文",
    "big5": "會議通知內容",
    "euc-kr": "한글메일 본문",
    "us-ascii": "plain words",
}
NAMES = ["Müller, Hans", "Ada (Lovelace)", 'Jörg "JJ" K', "日本 太郎", "a@b.example", "Plain Name", ""]


def words():
    charset = chance.choice(list(TEXTS))
    line = TEXTS[charset]
    return charset, "\n".join(" ".join([line] * chance.randint(1, 4)) for _ in range(chance.randint(1, 5))) + "\n"


def cte(charset):
    return chance.choice(["base64", "quoted-printable"] + (["7bit"] if charset in ("iso-2022-jp", "us-ascii") else ["8bit"]))


def message(number):
    mail = EmailMessage(policy=chance.choice([policy.SMTP, policy.SMTP.clone(max_line_length=60)]))
    name = chance.choice(NAMES)
    # Python loses spaces where it folds a longer subject.
    subject = chance.choice(list(TEXTS.values()))
    mail["Subject"] = subject
    mail["From"] = Address(display_name=name, username="ada", domain="mail.example")
    mail["Message-ID"] = f"<python{number}@mail.example>"
    mail["Date"] = "Fri, 20 Nov 2026 10:00:00 +0100"
    has_plain = chance.random() < 0.8
    has_html = not has_plain or chance.random() < 0.6
    text = html = None
    images = [f"image{n}@mail.example" for n in range(chance.randint(0, 3))] if has_html else []
    if has_plain:
        charset, text = words()
        mail.set_content(text, charset=charset, cte=cte(charset))
    if has_html:
        charset, content = words()
        shown = [one for one in images if chance.random() < 0.6]
        html = f"<p>{content}</p>" + "".join(f'<img src="cid:{one}">' for one in shown) + "\n"
        if has_plain:
            mail.add_alternative(html, subtype="html", charset=charset, cte=cte(charset))
            part = mail.get_payload()[-1]
        else:
            mail.set_content(html, subtype="html", charset=charset, cte=cte(charset))
            part = mail
        files = []
        for one in images:
            content = chance.randbytes(chance.randint(0, 200))
            part.add_related(content, "image", "png", cid=f"<{one}>", filename=f"{one}.png")
            files.append([f"{one}.png", base64.b64encode(content).decode(), one in shown])
    else:
        files = []
    for number in range(chance.randint(0, 3)):
        name = chance.choice([f"größe {number}.bin", f"a b {number}.txt", f"請求書{number}.pdf", "n" * 120 + f"{number}.bin"])
        content = chance.randbytes(chance.randint(0, 300))
        mail.add_attachment(content, "application", "octet-stream", filename=name)
        files.append([name, base64.b64encode(content).decode(), False])
    return {
        "raw": base64.b64encode(mail.as_bytes()).decode(),
        "subject": subject,
        "from": str(mail["From"].addresses[0].display_name),
        "text": text,
        "html": html,
        "files": files,
    }


print(json.dumps([message(number) for number in range(int(sys.argv[2]))]))
