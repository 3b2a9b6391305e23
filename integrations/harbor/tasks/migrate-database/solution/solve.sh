#!/bin/bash
set -e
python3 - <<'END'
import sqlite3
database = sqlite3.connect("shop.db")
rows = database.execute("select name, price from products").fetchall()
database.execute("drop table products")
database.execute("create table products (name text, cents integer)")
cents = [(name, round(float(price) * 100)) for name, price in rows]
database.executemany("insert into products values (?, ?)", cents)
database.commit()
END
