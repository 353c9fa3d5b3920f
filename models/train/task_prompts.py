"""Write the prompts of four tasks that no drafter here was trained on, one a line, for `adapt`.

    python3 models/train/task_prompts.py --out models/prompts/tasks

python.txt: questions on Python's documentation. recipes.txt: recipes that are asked for. letters.txt: letters and
messages to be written. travel.txt: questions of travellers. Each is a random draw of templates and their parts, without duplicates, in random order,
so that the first lines and the last are of one kind.
"""
import argparse
import random
import string
from pathlib import Path

PYTHON = {
    "templates": [
        "What does {function} do in Python?", "Show an example of {function} in Python and explain it.",
        "What is the difference between {pair} in Python?", "Explain {concept} in Python with a short example.",
        "How do I {act} in Python?", "What is the {module} module of Python for?",
        "Write a Python function that can {act}.", "When does Python raise {error}, and how is it handled?",
        "Which functions of the {module} module are used most, and what do they return?",
        "What are the arguments of {function} in Python?", "Why would I use {concept} in Python?",
        "Write the docstring of a Python function that can {act}.",
    ],
    "function": """len() sorted() enumerate() zip() map() filter() open() isinstance() range() print() str.split() str.join()
        list.append() dict.get() dict.items() set.union() os.path.join() os.listdir() json.loads() json.dumps()
        re.match() re.sub() random.choice() time.sleep() itertools.chain() functools.partial() collections.Counter()
        subprocess.run() logging.info() datetime.now() sum() any() reversed() str.format() shutil.copy() math.sqrt()
        super() getattr() list.sort() str.replace()""".split(),
    "pair": ["a list and a tuple", "a set and a dictionary", "is and ==", "append() and extend()", "sort() and sorted()",
             "a generator and a list", "a module and a package", "a class and an instance", "str and bytes",
             "a method and a function", "break and continue", "remove() and pop()", "a shallow and a deep copy",
             "positional and keyword arguments", "a thread and a process", "raise and assert", "local and global variables"],
    "concept": """list comprehensions;decorators;context managers;generators;lambda functions;slicing;default arguments;inheritance;
        exceptions;iterators;type hints;f-strings;the with statement;dataclasses;closures;unpacking;properties;
        abstract classes;virtual environments;the global keyword;static methods;recursion;named tuples""".split(";"),
    "act": """read a file line by line;count the words of a text;sort a list of dictionaries by a key;remove duplicates from a list;
        merge two dictionaries;reverse a string;find the largest number of a list;write a list to a CSV file;
        parse a date;download a web page;measure the time of a function;flatten a nested list;check that a file exists;
        convert a string to an integer;split a path into its parts;generate random numbers;replace text in a file;
        group items by their first letter;copy a folder;join strings with commas;find all primes below a number;
        compute an average;catch two kinds of exceptions;transpose a matrix;read arguments of the command line""".split(";"),
    "module": """os sys json re math random datetime collections itertools functools pathlib subprocess threading logging
        argparse csv sqlite3 socket unittest pickle shutil tempfile urllib asyncio statistics decimal heapq enum
        hashlib zipfile""".split(),
    "error": """KeyError ValueError TypeError IndexError AttributeError FileNotFoundError ZeroDivisionError ImportError
        StopIteration NameError RecursionError UnicodeDecodeError PermissionError""".split(),
}
RECIPES = {
    "templates": [
        "Write a recipe for {dish}.", "How do I cook {dish}?", "Give me a simple recipe for {dish} {with_}.",
        "Write {style} recipe for {dish}.", "What are the ingredients and the steps for {dish}?",
        "I have {food}, {other} and an onion. Suggest a recipe.", "Write a recipe for {dish} for {people}.",
        "Describe step by step how to make {dish}.", "Write {style} recipe with {food} and {other}.",
        "How long does it take to make {dish}, and what do I need?",
    ],
    "dish": """lentil soup;apple pie;vegetable curry;mushroom risotto;chicken stew;pancakes;banana bread;potato salad;lasagna;
        fish tacos;tomato soup;fried rice;beef chili;oatmeal cookies;pumpkin soup;garlic bread;roasted vegetables;
        stuffed peppers;omelettes;spinach pie;carrot cake;chocolate brownies;meatballs;noodle soup;bean burgers;
        baked salmon;rice pudding;hummus;onion soup;blueberry muffins;pizza;shepherd's pie;pea soup;lemon tart;
        waffles;ratatouille;corn bread;cheese sauce;dumplings;fruit salad""".split(";"),
    "with_": """without eggs;without milk;without sugar;in one pot;in under thirty minutes;with whole grain flour;with few
        ingredients;on a small budget;in the oven;for a cold evening;without gluten;with fresh herbs""".split(";"),
    "style": "a spicy;a vegetarian;a quick;a traditional;a healthy;an Italian;a Mexican;an Indian;a French;a simple;a vegan;a Greek".split(";"),
    "food": "rice;potatoes;lentils;chicken;eggs;tomatoes;mushrooms;carrots;beans;salmon;pasta;cabbage;zucchini;chickpeas".split(";"),
    "other": "cheese;garlic;spinach;lemon;butter;cream;ginger;peppers;parsley;coconut milk;celery;mustard;olives;peas".split(";"),
    "people": "two people;four people;a family of five;a birthday party;eight guests;children;a picnic;beginners".split(";"),
}
LETTERS = {
    "templates": [
        "Write a letter to {person} to {aim}.", "Write a short email to {person} to {aim}.",
        "Write a {tone} letter to {person} about {matter}.", "Write a {tone} email to {person} about {matter}.",
        "Draft a message to {person} in which I {aim}.", "Help me write a letter to {person} about {matter}.",
        "Write a reply to {person}, who wrote to me about {matter}.",
    ],
    "person": """my landlord;my grandmother;my boss;a customer;my neighbour;my teacher;an old friend;the city council;my doctor;
        the bank;a hotel;my colleague;my sister;the school;a newspaper;a supplier;my team;the insurance company;
        a new employee;the library;my aunt;a travel agency;my professor;a charity""".split(";"),
    "aim": """apologise for a mistake;ask for a meeting;say thank you for a gift;invite them to a party;complain about a delay;
        ask for help;cancel an appointment;announce good news;ask for more time;say goodbye;recommend a friend;
        ask a question about a bill;offer my help;report a problem;ask for a refund;confirm a date;share some memories;
        say that I am moving""".split(";"),
    "matter": """a broken heater;the summer holidays;a late delivery;a wedding;a new job;the noise at night;a lost parcel;
        the next project;a garden party;an unpaid invoice;a job interview;a visit in autumn;a school trip;a lost key;
        the plans for the weekend;a change of address;the opening hours;a birthday;a damaged book;a pay rise""".split(";"),
    "tone": "friendly;formal;polite;short;warm;cheerful;serious;grateful".split(";"),
}
TRAVEL = {
    "templates": [
        "Plan {days} in {place} for {who}.", "What should I see in {place} {when}?", "Is it worth going to {place} {when}?",
        "Plan a journey from {place} to {other} {how}.", "What do I have to know before I travel to {place}?",
        "Describe a morning at a market in {place}.", "How do I get around {place} {how}?", "Suggest quiet places near {place}.",
        "Write a postcard from {place} {when}.", "Which is better for {who}, {place} or {other}?",
        "What should I pack for {days} in {place}?", "Which dishes should I try in {place}?",
        "How much does a week in {place} cost?", "What can I do in {place} without spending money?",
        "Tell me about the best walks around {place}.", "What mistakes do visitors make in {place}?",
    ],
    "place": """Lisbon Kyoto Iceland Prague Vienna Morocco Taipei Kerala Norway Peru Scotland Istanbul Naples Copenhagen Havana
        Cairo Dublin Chile Zanzibar Vietnam Bali Budapest Seville Malta Corsica Edinburgh Tallinn Jordan Nepal Seoul
        Tasmania Vancouver Boston Alaska Mexico Patagonia Namibia Kenya Croatia Georgia Finland Provence Wales""".split(),
    "other": "Athens Krakow Porto Sardinia Riga Hokkaido Montreal Ecuador Senegal Albania Sweden Bavaria Cornwall".split(),
    "who": """a family with small children;two friends who love music;a student with little money;a couple in their sixties;
        someone who does not fly;a group of six;a photographer;someone who cannot walk far""".split(";"),
    "when": "in spring;in July;in October;over New Year;when it rains;in the low season".split(";"),
    "how": "by train;by bicycle;on foot;by bus;with a small car;by boat".split(";"),
    "days": "two days;three days;five days;ten days".split(";"),
}


def prompts(task, count, rng):
    parts = {name: [" ".join(p.split()) for p in values] for name, values in task.items()}
    found = {}
    while len(found) < count:
        template = rng.choice(parts["templates"])
        fields = [f for _, f, _, _ in string.Formatter().parse(template) if f]
        found[template.format(**{f: rng.choice(parts[f]) for f in fields})] = None
    out = list(found)
    rng.shuffle(out)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--count", type=int, default=300)
    args = p.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, task in (("python", PYTHON), ("recipes", RECIPES), ("letters", LETTERS), ("travel", TRAVEL)):
        found = prompts(task, args.count, random.Random(1))
        assert len(found) == len(set(found)) == args.count
        (args.out / f"{name}.txt").write_text("\n".join(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
