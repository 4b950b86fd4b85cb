"""Facts of the paper's data sets: seed words, names, label sets, sizes, blob ids.

The seed words are from the authors' released code; docs/datasets.md says where the names are from.

Plain data, used by ``registry`` and ``sources``.
"""

from __future__ import annotations

COMMIT = "a3bcc18008b856bd91a7f75bc36cd672a9545b5c"
PAPER_FILES = f"https://raw.githubusercontent.com/dheeraj7596/LOPS/{COMMIT}/data"
NEWSGROUPS_URL = "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz"
AGNEWS_URL = (
    "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv/train.csv"
)

AGNEWS_CLASSES = {"1": "politics", "2": "sports", "3": "business", "4": "technology"}

# Git blob id (SHA-1) of data/<folder>/df.pkl at COMMIT.
BLOBS = {
    "nyt-coarse": "e2490bc3d3a68480c88a683d0f81617693a35727",
    "nyt-fine": "e0c831f51570e8977a84d88f79e1b17f2315f41c",
    "20news-coarse-nomisc": "5cea333bf7300cccf26193aaee5efcf71660d7b3",
    "20news-fine-nomisc": "6dc9a1fac941ae4fc80800ea102c3dfdde01f333",
    "agnews": "68a84982bf5705730d660dfa3de06538722c580b",
    "books": "cc71aa8fa6627dafb8c0292e6868164dcc334f93",
}

# Newsgroup -> (class of the coarse task, class of the fine task); None: not part of the task.
_GROUPS: dict[str, tuple[str | None, str | None]] = {
    "alt.atheism": ("religion", "alt.atheism"),
    "comp.graphics": ("comp", "comp.graphics"),
    "comp.os.ms-windows.misc": ("comp", "comp.os.ms-windows.misc"),
    "comp.sys.ibm.pc.hardware": ("comp", "comp.sys.ibm.pc.hardware"),
    "comp.sys.mac.hardware": ("comp", "comp.sys.mac.hardware"),
    "comp.windows.x": ("comp", "comp.windows.x"),
    "misc.forsale": (None, None),
    "rec.autos": ("rec", "rec.autos"),
    "rec.motorcycles": ("rec", "rec.motorcycles"),
    "rec.sport.baseball": ("rec", "rec.sport.baseball"),
    "rec.sport.hockey": ("rec", "rec.sport.hockey"),
    "sci.crypt": ("sci", "sci.crypt"),
    "sci.electronics": ("sci", "sci.electronics"),
    "sci.med": ("sci", "sci.med"),
    "sci.space": ("sci", "sci.space"),
    "soc.religion.christian": ("religion", "soc.religion.christian"),
    "talk.politics.guns": ("talk", "talk.politics.guns"),
    "talk.politics.mideast": ("talk", "talk.politics.mideast"),
    "talk.politics.misc": ("talk", None),
    "talk.religion.misc": ("religion", None),
}
GROUPS = tuple(_GROUPS)
COARSE_GROUPS = {group: coarse for group, (coarse, _) in _GROUPS.items() if coarse is not None}
FINE_GROUPS = {group: fine for group, (_, fine) in _GROUPS.items() if fine is not None}


# The names that X-Class's released data gives to two classes of NYT.
RENAMED = {"real_estate": "estate", "united_states": "america"}


def _words(lines: str) -> dict[str, tuple[str, ...]]:
    """Read lines "class: word, word" (a seed word may contain a space)."""
    entries = (line.split(": ") for line in lines.strip().splitlines())
    return {label.strip(): tuple(words.split(", ")) for label, words in entries}


SEEDS = {
    "20news-coarse": _words("""
        comp: graphics, windows, scsi, mac
        rec: car, bike, game, team
        sci: encryption, circuit, candida, space
        talk: turkish, gun, stephanopoulos, armenian
        religion: church, jesus, jehovah, religion, atheism
    """),
    "20news-fine": _words("""
        alt.atheism: atheism, atheists, rushdie
        comp.graphics: jpeg, gif, images, graphics
        comp.os.ms-windows.misc: driver, microsoft, dos, windows
        comp.sys.ibm.pc.hardware: scsi, ide, controller, drive
        comp.sys.mac.hardware: apple, mac, centris, powerbook
        comp.windows.x: motif, x11r5, xterm, window
        rec.autos: car, mustang
        rec.motorcycles: bike, dod, bikes
        rec.sport.baseball: baseball
        rec.sport.hockey: hockey, nhl
        sci.crypt: encryption, clipper, key, chip
        sci.electronics: circuit, current, wire, voltage
        sci.med: candida, msg, vitamin
        sci.space: space, shuttle, orbit
        soc.religion.christian: jesus, christ, church, bible
        talk.politics.guns: weapons, gun, guns, firearms
        talk.politics.mideast: armenian, israeli, turkish, arab
    """),
    "agnews": _words("""
        politics: government, military, war, iraq, palestinian
        sports: basketball, football, athletes, championship, yankees
        business: stocks, markets, industries, oil, sales
        technology: computer, telescope, software, microsoft, space
    """),
    "books": _words("""
        children: picture book, illustrator, junie b, little critter, rachel and kirsty
        young_adult: sweet valley high, high school, the princess diaries, the hunger games
        comics_graphic: batman, superman, marvel
        fantasy_paranormal: supernatural, fantasy, monster hunter, jane yellowrock
        history_biography: history, world war, world war ii
        mystery_thriller_crime: serial killer, sherlock holmes, stephanie plum
        poetry: poems, poetry, poet
        romance: broken heart, erotic romance, contain sexually explicit content and, \
m/m romance group strongly recommends, romance
    """),
    "nyt-coarse": _words("""
        arts: music, film, album, movie, dance
        business: companies, euro, economy, batteries, sales
        science: space, researchers, scientists, research, science
        sports: yankees, cup, league, basketball, golf
        politics: republicans, senator, senate, democrats, election
    """),
    "nyt-fine": _words("""
        federal_budget: cuts, budget, debt
        gun_control: guns, weapons, firearms
        law_enforcement: death, judge, prosecutors
        gay_rights: gay, marriage, same-sex
        energy_companies: energy, oil, gas
        environment: climate, fish, wildlife, carbon
        immigration: immigration, immigrants, citizenship
        military: military, pentagon, army, marine
        cosmos: spacecraft, sun, kepler
        the_affordable_care_act: medicaid, coverage, insurance
        stocks_and_bonds: earnings, stocks, investors
        international_business: bank, european, china
        abortion: abortion
        music: music
        baseball: baseball
        economy: economy
        television: episode, episodes, viewers
        golf: golf
        tennis: tennis
        hockey: hockey
        football: football
        dance: dance
        movies: movies
        soccer: soccer
        surveillance: surveillance, intelligence, snowden
        basketball: basketball
    """),
}

# Words that name a class in a text. A class that is left out is named by its label.
NAMES = {
    "20news-coarse": _words("""
        comp: computer
        rec: sports
        sci: science
        talk: politics
        religion: religion
    """),
    "20news-fine": _words("""
        alt.atheism: atheism
        comp.graphics: graphics
        comp.os.ms-windows.misc: windows
        comp.sys.ibm.pc.hardware: ibm
        comp.sys.mac.hardware: mac
        comp.windows.x: motif
        rec.autos: cars
        rec.motorcycles: motorcycles
        rec.sport.baseball: baseball
        rec.sport.hockey: hockey
        sci.crypt: encryption
        sci.electronics: electronics
        sci.med: medicine
        sci.space: space
        soc.religion.christian: christianity
        talk.politics.guns: guns
        talk.politics.mideast: israel
    """),
    "books": _words("""
        children: children
        young_adult: teen
        comics_graphic: comics
        fantasy_paranormal: fantasy
        history_biography: history
        mystery_thriller_crime: mystery
        poetry: poetry
        romance: romance
    """),
    "nyt-fine": _words("""
        federal_budget: federal budget
        gun_control: gun control
        law_enforcement: law enforcement
        gay_rights: gay rights
        energy_companies: energy
        cosmos: space
        the_affordable_care_act: healthcare
        stocks_and_bonds: stocks
        international_business: international business
    """),
}
