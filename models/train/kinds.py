"""Kinds of requests: openings that the target goes on from, templates with their parts, texts that requests quote.

Openings and templates were written for this project. Words come from WordNet (nouns and verbs that its tagged texts have, by
kind), passages from text that the target wrote before and from Python's documentation. Nothing here is in models/prompts, and
two kinds are held out whole: recipes and travel (HELD_OUT).
"""
import random
import re
import string
import textwrap
from pathlib import Path

HELD_OUT = re.compile(r"recipe|cook(?!ie)|\bbak(e|ing)\b|ingredient|\bdish(es)?\b|travel|\btrips?\b|itinerar|tourist|vacation|holiday|"
                      r"sightseeing|destination|\bvisit(ing)?\b|backpack", re.IGNORECASE)

# Share of each kind among the prompts that are answered.
SHARES = {"conversation": 9, "questions": 11, "writing": 9, "rewriting": 9, "summaries": 7, "extraction": 8, "mathematics": 10,
          "programs": 14, "explained programs": 6, "lists": 6, "letters": 6, "translation": 8, "role play": 4, "turns": 5}

OPENINGS = {
    "conversation": ["How can I", "How do I", "What should I", "I feel", "I want to", "I need", "Can you help", "Should I", "My friend",
                     "I'm trying to", "What do you think", "Do you think", "Is it", "I have been", "Tell me about your", "Hi! I", "Can I",
                     "What's the best way to", "I don't know how", "Give me advice", "How would you", "Could you please"],
    "questions": ["What is", "Why do", "How does", "Who was", "When did", "Where is", "What are the", "Which", "What causes", "How many",
                  "Explain the", "Describe the", "What happens", "Why is the", "How are", "What was the", "Can you explain",
                  "Compare the", "What is the difference between", "Who invented", "In what year", "Define the", "Discuss the"],
    "writing": ["Write a", "Write an essay", "Write a poem", "Write a blog post", "Create a", "Compose a", "Write a review of", "Describe a",
                "Write a speech", "Write a product description", "Write an article", "Write a paragraph", "Write a dialogue", "Write a scene",
                "Write a haiku", "Write a news report", "Imagine", "Write an advertisement", "Write a slogan", "Write a song"],
    "rewriting": ["Rewrite the following sentence:", "Correct the grammar:", "Rewrite this paragraph in", "Edit the following text:",
                  "Make this sentence more formal:", "Paraphrase the following:", "Fix the errors in this sentence:",
                  "Improve this paragraph:\n\nThe", "Rewrite the text below:\n\nIn", "Change this text to"],
    "summaries": ["Summarize the following article:\n\nThe", "Summarize this text in one sentence:\n\nIn", "Summarize the following paragraph:\n\nA",
                  "What is the main idea of this text?\n\nThe", "Give a short summary of this story:\n\nOnce", "Write a headline for this article:\n\nThe"],
    "extraction": ["Read the following text and answer the question.\n\nThe", "Extract the names from this text:\n\n",
                   "List the key points of the following text:\n\nThe", "Based on this paragraph, what", "Classify the following",
                   "Find all the dates in this text:\n\nIn", "Answer the question using the passage:\n\nThe", "Identify the"],
    "mathematics": ["A train", "If a", "Solve", "Calculate", "A farmer has", "What is the sum", "A rectangle", "Tom has", "A store sells",
                    "Find the", "How much", "A car travels", "There are", "Sarah buys", "What is 15", "Solve for x:", "The price of",
                    "A class has", "Convert", "What percentage", "Prove that", "In a box", "A worker earns", "The average of"],
    "programs": ["Write a Python function", "Write a program", "Write a function", "Write a JavaScript function", "Write an SQL query",
                 "Create a class", "Implement a", "Write a C++ program", "Write a Java method", "How do I write", "Write a script",
                 "Fix this code:\n\n```python\ndef", "Write HTML", "Write a bash script", "Write a Python class", "Write code",
                 "Create a Python", "Write a regular expression", "Write a unit test", "Sort a", "Write a recursive function"],
    "explained programs": ["Explain this code:\n\n```python\ndef", "What does this function do?\n\n```python\ndef", "What is the output of\n\n",
                           "Find the bug in this code:\n\n```python\n", "What is a variable", "What is recursion", "How does a loop",
                           "Explain how the following Python code", "What is the time complexity", "What is object"],
    "lists": ["List the", "List five", "Give me a list", "Give ten", "Name three", "Make a table", "Create a table", "Provide a list",
              "Give me five examples", "What are some", "Make a checklist", "Create a schedule", "Generate a list", "List some"],
    "letters": ["Write a letter", "Write an email", "Draft an email", "Write a thank you", "Write a cover letter", "Reply to this email:\n\nDear",
                "Write an invitation", "Compose an email", "Write a formal letter", "Write a message to", "Draft a letter", "Write a complaint"],
    "translation": ["Translate the following sentence", "Translate this into French:", "How do you say", "Translate to Spanish:",
                    "What does the German", "Translate into German:", "Translate the text", "What is the Spanish word"],
    "role play": ["You are a", "Pretend you are", "Act as a", "Imagine you are", "Play the role of", "I want you to act as", "You are an"],
}

# {noun}, {act}, {person} ... are lists of words; {passage}, {code}, {sentence}, {wrong} are quoted texts.
TEMPLATES = {
    "conversation": ["I had an argument with my {person} about {thing}. What can I say?", "I am worried about {idea}. What should I do?",
                     "What do you like about {animal}s?", "My {person} gave me a {thing}. What can I do with it?", "I can't sleep because I think of {idea}.",
                     "Can you recommend a hobby for a {person}?", "How do I talk to a {person} about {idea}?", "I lost my {thing} yesterday. Any advice?",
                     "Should I buy a {thing} or a {thing2}?", "How was your day?", "I feel {feeling}. Can you cheer me up?",
                     "I want to become a {person}. Where do I start?", "Is {idea} more important than {idea2}?", "How do I keep a {animal} at home?",
                     "My neighbour has a {animal} that is very loud. What would you do?", "What would you ask a {person}?"],
    "questions": ["What is {idea}?", "Where does the {animal} live, and what does it eat?", "How is a {thing} made?", "Who uses a {thing}, and why?",
                  "What is the difference between {idea} and {idea2}?", "Why is {substance} useful?", "What does a {person} do all day?",
                  "How do {animal}s and {animal2}s differ?", "When was the {thing} invented?", "What causes {event}?",
                  "Explain {idea} in two sentences.", "Is {substance} dangerous?", "How does {event} change a city?", "What is a {thing} used for?",
                  "Which {plant} grows best in dry soil?", "What are the pros and cons of {idea}?", "How does the {body} work?",
                  "Why do people feel {feeling}?", "What role does {substance} play in industry?", "Where is {place}, and what is it known for?"],
    "writing": ["Write an essay about {idea} and {idea2}.", "Write a poem about a {thing} and a {animal}.", "Write a review of a {thing}.",
                "Write a product description for a {thing}.", "Write a blog post on {idea}.", "Describe a {place_kind} in the morning.",
                "Write a dialogue between a {person} and a {person2} about {idea}.", "Write a speech about {idea} for {person}s.",
                "Write a newspaper article about {event} in {place}.", "Write four lines that rhyme about {feeling}.",
                "Write a diary entry of a {person} after {event}.", "Write an advertisement for a {thing} for {person}s.",
                "Write a song about {feeling} and a {animal}.", "Give three arguments for and against {idea}.",
                "Write a review of a film about a {person} and a {person2}.", "Write the opening of a novel in {place}."],
    "rewriting": ["Correct the mistakes in this text: {wrong}", "Rewrite this text in simple words: {passage}", "Make this text shorter: {passage}",
                  "Rewrite this in the first person: {passage}", "Make this text more formal:\n\n{passage}", "Rewrite the following as a list:\n\n{passage}",
                  "Fix the spelling: {wrong}", "Say this in other words: {sentence}", "Change this text so that it sounds friendlier: {passage}",
                  "Put this into the future tense: {sentence}", "Improve the style of this paragraph:\n\n{passage}",
                  "Replace the {person} with a {person2} in this text and write it again: {passage}", "Expand this into a paragraph: {sentence}"],
    "summaries": ["Summarize: {long}", "Summarize the following text:\n\n{long}", "Give a one-sentence summary.\n\n{long}", "{long}\n\nTL;DR",
                  "What is this text about?\n\n{long}", "Write a title and a short summary for this:\n\n{long}", "Summarize this in three points:\n\n{long}",
                  "Shorten this to two sentences: {long}", "{long}\n\nSummarize the text above."],
    "extraction": ["{long}\n\nWho is mentioned in this text?", "List all nouns in this sentence: {sentence}", "Text: {long}\n\nQuestion: What happens first?",
                   "Answer from the text only. Text: {long} Question: Where does it take place?", "Find the names and places in this text:\n\n{passage}",
                   "Is this text positive, negative or neutral? {passage}", "What is the most important sentence of this text?\n\n{long}",
                   "Context: {long}\n\nQuestion: {question}\nAnswer:", "Passage 1: {passage}\nPassage 2: {passage2}\n\nWhich passage is about {idea}, and why?",
                   "Write three questions that this text answers:\n\n{passage}", "Extract the key words: {passage}", "Give the main facts of this text as a list:\n\n{long}"],
    "mathematics": ["{name} has {a} {things} and gives {b} to {name2}. How many {things} are left?", "A {thing} costs {a} dollars. How much do {b} of them cost?",
                    "What is {a} plus {b}?", "What is {a} times {b}?", "Solve {b}x + {a} = {c}.", "What is {b} % of {c}?", "What is {c} divided by {b}?",
                    "A {person} earns {a} dollars an hour and works {b} hours a day for {d} days. How much is that?",
                    "A rectangle is {a} cm long and {b} cm wide. What is its area and its perimeter?", "Simplify {a}/{c}.",
                    "A car drives {a} miles in {b} hours. How far does it go in {d} hours?", "{name} reads {b} pages a day. How long does a book of {c} pages take?",
                    "There are {a} {things} in a box. {name} takes out {b}, and {name2} puts in {d}. How many are in the box now? Think step by step.",
                    "Find the average of {a}, {b} and {c}.", "What is the next number: {b}, {a}, {c}?", "If {b} {things} weigh {c} grams, how much does one weigh?",
                    "{name} is {a} years old, and {name2} is {b} years older. How old will {name2} be in {d} years?", "Calculate ({a} + {b}) * {d} step by step.",
                    "A {thing} that cost {c} dollars is {b} % cheaper today. What is its price?", "What is the square root of {a}?"],
    "programs": ["Write a {language} function that {does}.", "Write a {language} program that {does}.", "How can I {do} in {language}?",
                 "Show me {language} code that {does}.", "Complete this function:\n\n```python\n{head}\n```", "Write a class {Class} in {language} with fields for {thing} and {thing2}.",
                 "Write an SQL query that {query}.", "Write a test for a function that {does}.", "Write a shell command that {shell}.",
                 "Convert this code to {language}:\n\n```python\n{code}\n```", "Write a web page with {page}.", "{head}\n    \"\"\"This function {does}.\"\"\"",
                 "Add comments to this code:\n\n```python\n{code}\n```", "Write a {language} struct or class for a {thing} and print it."],
    "explained programs": ["Explain this code:\n\n```python\n{code}\n```", "What does this code do? {code}", "Explain line by line:\n\n{code}",
                           "What is {computing}, and when is it used?", "What is the difference between {computing} and {computing2}?",
                           "Is there a mistake in this code?\n\n```\n{code}\n```", "How does {computing} work in {language}?", "Explain {computing} to a beginner.",
                           "How could this be written more simply?\n\n```python\n{code}\n```"],
    "lists": ["List {n} things that a {person} needs.", "Name {n} kinds of {substance}.", "Give me {n} names for a {animal}.", "Make a table of {n} {animal}s with size and food.",
              "Create a weekly plan for a {person}.", "List the steps to repair a {thing}.", "Give {n} reasons for {idea}.", "List {n} synonyms of {verb}.",
              "Make a checklist for {event}.", "Name {n} famous {person}s.", "List {n} uses of a {thing}.", "Compare a {thing} and a {thing2} in a table.",
              "Give me {n} questions to ask a {person}.", "Give {n} sentences with the word {noun}.", "List advantages of {substance} over {substance2}."],
    "letters": ["Write an email to a {person} about a {thing}.", "Write a letter to a {person} in which I apologise for {event}.", "Write a reply to a {person} who asks about {idea}.",
                "Write a short note to my {person} to say thanks for the {thing}.", "Write a cover letter for a job as a {person}.", "Write a complaint about a {thing} that broke.",
                "Write a formal email that asks a {person} for {substance}.", "Write a birthday card for a {person} who loves {animal}s.",
                "Write a message that cancels {event}.", "Write an email to all {person}s of the company about {event}."],
    "translation": ["Translate to {tongue}: {short}", "Translate into {tongue}: {sentence}", "How do you say \"{noun}\" in {tongue}?", "Translate this text into {tongue}:\n\n{passage}",
                    "What does \"{foreign}\" mean in English?", "Translate {foreign_tongue} to English: {foreign}", "Give me five {tongue} phrases about {event}.",
                    "Translate the words {noun}, {thing} and {animal} into {tongue}.", "Write a sentence about a {animal} in {tongue} and translate it."],
    "role play": ["You are a {person}. Introduce yourself to a {person2}.", "Act as a {person} and explain {idea} to me.", "Pretend to be a {animal} and tell me about your day.",
                  "You are a {person} who sells {substance}. I am a customer. Start the conversation.", "Be my {person}. I have a question about {thing}s.",
                  "You are a {thing}. What do you see?", "Act as an interviewer for a job as a {person}. Ask me the first question.",
                  "You are a {feeling} {person}. Answer: what is {idea}?"],
}
FOLLOW_UPS = ["Make it shorter.", "Can you say that in simpler words?", "Give me an example.", "Why?", "Tell me more.", "Now write it as a poem.", "Make a list of the main points.",
              "Are you sure?", "What are the disadvantages?", "Thanks! Can you explain the first point in more detail?", "Rewrite that more formally.", "Translate that into {tongue}.",
              "What should I do next?", "Now do the same for {idea}.", "And what about {thing}s?", "Can you add something about {idea}?", "How would a {person} see it?",
              "Write that again without the last sentence.", "Is there another way?", "Summarize what you said.", "Who else would know about this?", "Give it a title."]

PARTS = {
    "language": "Python Python Python JavaScript Java C C++ Go Rust Ruby PHP TypeScript C# Kotlin Swift Perl Bash".split(),
    "tongue": "French German Spanish Italian Portuguese Dutch Latin Polish Swedish Chinese Japanese Russian".split(),
    "name": "Tom Anna Sam Maria Ben Lucy Omar Nina Paul Emma Ravi Julia Leo Sofia Max Grace Ali Clara Peter Mia".split(),
    "n": "three four five six seven eight ten".split(),
    "place_kind": "market;harbour;forest;railway station;library;small town;farm;factory;garden;school;river bank;museum;castle".split(";"),
    "does": """adds two numbers;reverses a string;counts the vowels of a text;finds the largest number of a list;checks whether a word is a palindrome;
        sorts a list of names;computes the factorial of n;prints the first n Fibonacci numbers;checks whether a number is prime;removes duplicates from a list;
        merges two sorted lists;reads a file and counts its words;converts Celsius to Fahrenheit;finds the longest word of a sentence;computes the mean of a list;
        counts how often each letter occurs;returns the intersection of two lists;rotates a list by k places;checks whether two words are anagrams;
        computes the greatest common divisor of two numbers;converts a number to binary;searches a sorted list;prints a multiplication table;
        validates an email address;generates a random password;finds the second largest number;flattens a nested list;capitalises every word;
        computes compound interest;simulates a bank account;implements a stack;implements a queue;implements a linked list;traverses a binary tree;
        finds the shortest path in a graph;parses a CSV line;counts the lines of a file;downloads a page;computes the distance between two points;
        transposes a matrix;multiplies two matrices;checks brackets for balance;computes the sum of digits;removes spaces from a string;
        groups words by length;finds missing numbers in a sequence;plays rock, paper, scissors;guesses a number;draws a triangle of stars;
        splits a text into sentences;converts a string to an integer;calculates the age from a date;finds all pairs with a given sum;
        computes powers without the operator;counts down from ten;prints even numbers up to n;swaps two values;filters negative numbers""",
    "query": """counts the {thing}s of each {person};selects all {person}s older than 30;joins the tables {thing}s and {person}s;finds the most expensive {thing};
        deletes all {thing}s that were never sold;updates the price of a {thing};lists {person}s without a {thing};computes the average price by {noun};
        creates a table for {animal}s;sorts {thing}s by price;finds duplicate names of {person}s;shows the five newest {thing}s""",
    "shell": "finds all files larger than 10 MB;counts the lines of all Python files;renames every .txt file;shows the disk usage;kills a process by name;"
             "searches for a word in a folder;copies a folder to another machine;prints the last ten lines of a log;sorts a file by its second column",
    "page": "a form with two fields;a table of {thing}s;a picture of a {animal} and a caption;a red button;a list of links about {idea};a menu and a footer;a heading and two paragraphs about {thing}s",
    "head": "def is_{noun}(x):;def count_{noun}s(items):;def find_{noun}(items, key):;def make_{noun}(name, size):;def {verb}_{noun}(a, b):;def {verb}(text: str) -> str:;"
            "def {verb}_all(numbers: list[int]) -> int:;class {Class}:;def {verb}_{noun}s(path):;function {verb}{Class}(a, b) {{",
    "computing": """recursion;a hash table;a pointer;an array;a linked list;a for loop;a while loop;a class;an object;inheritance;a database index;an API;a compiler;an interpreter;
        a thread;a process;a deadlock;version control;a unit test;a regular expression;a lambda function;an exception;binary search;quicksort;merge sort;a stack;a queue;
        a binary tree;a graph;big O notation;dynamic programming;a cache;an operating system;HTTP;JSON;XML;HTML;CSS;a web server;encryption;a boolean;a string;a float;
        garbage collection;a variable;a constant;a module;a package;a callback;a promise;an event loop;a closure;a decorator;an iterator;a generator;polymorphism;an interface;
        a foreign key;a transaction;a virtual machine;a container;a firewall;an IP address;machine learning;a neural network;overfitting;a decision tree""",
    "question": """What is the text about?;Who is the main person?;Why does this happen?;What is the result?;How does it end?;What is described first?;When does it happen?;
        What can we learn from it?;Which problem is mentioned?;What does the author think?;Where does it take place?;What is the reason?;How many are named?""",
    "foreign": [("French", "Où est la gare, s'il vous plaît ?"), ("French", "Je voudrais un café et un croissant."), ("French", "Il fait très beau aujourd'hui."),
                ("French", "Nous avons perdu les clés de la voiture."), ("French", "La petite maison se trouve au bord de la rivière."),
                ("French", "Pourquoi le ciel est-il bleu ?"), ("French", "Mon frère travaille dans une grande usine."),
                ("German", "Der Hund schläft unter dem Tisch."), ("German", "Ich habe gestern ein neues Buch gekauft."), ("German", "Wie spät ist es?"),
                ("German", "Die Kinder spielen im Garten, obwohl es regnet."), ("German", "Wir treffen uns morgen um acht Uhr am Bahnhof."),
                ("German", "Meine Großmutter erzählt gern alte Geschichten."), ("German", "Das Wetter wird am Wochenende besser."), ("German", "Kannst du mir bitte helfen?"),
                ("Spanish", "La biblioteca abre a las nueve de la mañana."), ("Spanish", "Mi hermana quiere aprender a nadar."), ("Spanish", "¿Cuánto cuesta este libro?"),
                ("Spanish", "El gato negro duerme en la silla."), ("Spanish", "Mañana vamos a la playa con nuestros amigos."), ("Spanish", "No entiendo la pregunta."),
                ("Italian", "Il treno parte alle sette e mezza."), ("Italian", "Mi piace ascoltare la musica."), ("Italian", "Dove posso comprare il pane?"),
                ("Portuguese", "O menino comprou uma bola nova."), ("Dutch", "De fiets staat achter het huis."), ("Latin", "Amor vincit omnia.")],
}

# List: WordNet's file (data.noun, data.verb) and the number of its lexicographer file.
WORDNET = {"animal": ("noun", 5), "thing": ("noun", 6), "person": ("noun", 18), "plant": ("noun", 20), "idea": ("noun", 9), "feeling_noun": ("noun", 12),
           "event": ("noun", 4), "event2": ("noun", 11), "substance": ("noun", 27), "body": ("noun", 8), "attribute": ("noun", 7), "place": ("noun", 15), "verb": ("verb", 36),
           "verb2": ("verb", 35)}
BAD = set("""whore negro nigger bastard bitch slave prostitute corpse suicide murder rape killing genitals penis vagina anus breast sex nazi terrorist rapist cock ass dick hooker""".split())


def wordnet(folder):
    """{list: words}: of each lexicographer's file the words that WordNet's tagged texts have in that sense, the frequent ones first."""
    tagged = {}
    for line in (folder / "cntlist.rev").read_text().splitlines():
        key, _, count = line.split(" ")
        lemma, rest = key.split("%")
        kind, file = rest.split(":")[:2]
        tagged.setdefault((int(kind), int(file)), {}).setdefault(lemma, 0)
        tagged[int(kind), int(file)][lemma] += int(count)
    numbers = {"noun": 1, "verb": 2}
    lists = {}
    for name, (kind, file) in WORDNET.items():
        words = tagged[numbers[kind], file]
        words = sorted((w for w in words if re.fullmatch(r"[a-z]{3,12}", w) and w not in BAD), key=lambda w: (-words[w], w))
        lists[name] = words[:500]
    lists["idea"] += lists.pop("attribute")[:200] + lists.pop("feeling_noun")[:60]
    lists["event"] = lists["event"][:250] + lists.pop("event2")[:100]
    lists["verb"] += lists.pop("verb2")
    lists["noun"] = lists["thing"] + lists["animal"] + lists["plant"]
    lists["things"] = [w + "s" for w in lists["thing"] + lists["animal"][:60]]
    lists["feeling"] = "happy sad tired lonely proud nervous angry bored excited jealous calm curious afraid grateful hungry confused hopeful shy".split()
    lists["place"] = [w.capitalize() for w in "london paris berlin tokyo egypt india brazil canada rome spain kenya norway chicago alaska texas china peru greece vienna".split()]
    lists["Class"] = [w.capitalize() for w in lists["thing"]]
    return lists


def sentences(text):
    return [s.strip() for s in re.split(r"(?<=[.!?])\s+", text) if 30 <= len(s.strip()) <= 220]


def quoted(answers, docs):
    """{passage, long, sentence, short, code}: parts of text that the target wrote (prompt, text, ended) and of the documentation."""
    found = {"passage": [], "long": [], "sentence": [], "short": [], "code": []}
    texts = [" ".join(t.split()) for _, t, _ in answers if "```" not in t]
    for file in sorted(docs.glob("*.txt")) if docs else []:
        blocks = file.read_text(encoding="utf-8")[:60000].split("\n\n")
        for before, block in zip(blocks, blocks[1:]):
            lines = block.split("\n")
            if block[:1].isupper() and 3 <= len(lines) <= 8 and not re.search(r"[|=+<>#]{2}|\.\. |::", block):
                texts.append(re.sub(r":\w+:`[~!]?([^`<]*)[^`]*`", r"\1", " ".join(block.split())).replace("``", ""))
            elif before.endswith("::") and block.startswith("   ") and 40 < len(block) < 500:
                code = textwrap.dedent(block)
                if re.search(r"^(def|class|import|for|while|with|if|try|from) ", code, re.MULTILINE):
                    found["code"].append(code)
    for text in texts:
        s = sentences(text)
        if len(s) >= 4:
            found["long"].append(" ".join(s[:8])[:700].rsplit(".", 1)[0] + ".")
        if len(s) >= 3:
            found["passage"].append(" ".join(s[1:4]))
        found["sentence"] += [x for x in s if x[0].isupper()][:2]
        found["short"] += [x for x in s if x[0].isupper() and len(x) < 70][:1]
    return found


def misspelt(text, rng):
    """With a letter dropped, doubled or swapped in some words."""
    words = text.split(" ")
    for i in rng.sample(range(len(words)), max(1, len(words) // 8)):
        w = words[i]
        if len(w) > 3 and w.isalpha():
            k = rng.randrange(1, len(w) - 1)
            words[i] = rng.choice((w[:k] + w[k + 1:], w[:k] + w[k] + w[k:], w[:k] + w[k + 1] + w[k] + w[k + 2:]))
    return " ".join(words)


class Maker:
    """Prompts from templates."""

    def __init__(self, wordnet_folder, answers, docs):
        self.parts = {**wordnet(wordnet_folder), **quoted(answers, docs)}
        for name, value in PARTS.items():
            self.parts[name] = [" ".join(x.split()) for x in value.split(";")] if isinstance(value, str) else value
        self.answers = [(p, t) for p, t, ended in answers if ended and len(t) < 700]
        self.formatter = string.Formatter()

    def fill(self, template, rng, depth=0):
        fields = {f for _, f, _, _ in self.formatter.parse(template) if f}
        values = {}
        foreign = rng.choice(self.parts["foreign"])
        for f in sorted(fields):
            if f in "abcd":
                values[f] = rng.randrange(2, {"a": 100, "b": 20, "c": 400, "d": 12}[f])
            elif f == "foreign":
                values[f] = foreign[1]
            elif f == "foreign_tongue":
                values[f] = foreign[0]
            elif f == "wrong":
                values[f] = misspelt(rng.choice(self.parts[rng.choice(("passage", "sentence"))]), rng)
            elif f == "do":
                values[f] = re.sub(r"^(\w+?)(?<!s)(es|s)\b", lambda m: m[1] if m[2] == "s" else m[1] + ("" if m[1][-1] in "xzh" else "e"), rng.choice(self.parts["does"]))
            else:
                part = rng.choice(self.parts[f.rstrip("2")])
                values[f] = self.fill(part, rng, depth + 1) if f in ("query", "page", "head") else part
        return self.formatter.vformat(template, (), values)

    def prompt(self, kind, rng):
        if kind == "turns":
            question, answer = rng.choice(self.answers)
            return turns(question, answer, self.fill(rng.choice(FOLLOW_UPS), rng))
        return self.fill(rng.choice(TEMPLATES[kind]), rng)


def turns(question, answer, more):
    """One prompt of a conversation that went on: from its first question to its last."""
    return f"{question}<|im_end|>\n<|im_start|>assistant\n{answer}<|im_end|>\n<|im_start|>user\n{more}"


def good(prompt):
    """Not of a held-out kind, four words at least, few other letters than English ones, few repeated words."""
    words = prompt.lower().split()
    return (len(words) >= 4 and not HELD_OUT.search(prompt) and sum(ord(c) > 127 for c in prompt) <= 0.1 * len(prompt)
            and len(set(words)) >= 0.5 * len(words))
