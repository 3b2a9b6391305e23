create table products (name text, price text);
insert into products values ('milk', '1.15'), ('bread', '4.20'), ('salt', '0.29');
