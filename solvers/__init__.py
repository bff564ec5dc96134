"""Mathematics of dice-and-card games: games, chains and programmes, with no I/O and no knowledge of how they are run."""
