"""Characters of a text file as batches of token ids."""
import torch


class CharacterData:
    """Every character of the file is a token.

    Windows are drawn at random places from a generator of their own, so a
    seed fixes the batches whatever the model draws.
    """

    def __init__(self, path, seed):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.vocabulary = sorted(set(text))
        ids = {c: i for i, c in enumerate(self.vocabulary)}
        self.tokens = torch.tensor([ids[c] for c in text])
        self.generator = torch.Generator().manual_seed(seed)

    def batch(self, batch_size, length):
        """Returns tokens and targets, each (batch_size, length)."""
        last = len(self.tokens) - length - 1
        starts = torch.randint(
            0, last + 1, (batch_size, 1), generator=self.generator
        )
        window = starts + torch.arange(length + 1)
        rows = self.tokens[window]
        return rows[:, :-1], rows[:, 1:]
