LAYERS = """core sampling verify""".split()
