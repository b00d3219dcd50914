"""Phrasings of topics that a documentation lacks: ways to name the thing, put into forms of queries."""

import random

PHRASINGS = 20
FORMS = [
    "how do I {verb} {thing}?", "{verb} {thing}", "{thing}", "{thing} example", "can I {verb} {thing}?", "{thing} not working",
    "set up {thing}", "where is {thing}?", "best way to {verb} {thing}", "{thing} in code", "help with {thing}",
    "{verb} {thing} programmatically", "{thing} tutorial", "what is needed to {verb} {thing}", "is {thing} supported?"]
# Things and verbs of each topic. Thresholds of the report were chosen with the first seven.
TOPICS = {
    "bluetooth": (["a bluetooth printer", "bluetooth printing", "wireless printer pairing", "printing over bluetooth", "a paired bluetooth printer"],
                  ["connect", "add", "use", "set up", "choose"]),
    "purchases": (["in-app purchases", "a paid subscription", "in app purchase payments", "buying a subscription inside the app",
                   "purchase receipts"], ["offer", "validate", "restore", "test", "sell"]),
    "barcode": (["barcode scanning", "a QR code scanner", "a barcode reader", "scanning QR codes with the camera", "barcodes"],
                ["scan", "read", "detect", "add", "use"]),
    "push": (["push notifications", "a remote notification", "notifications sent from a server", "push messages", "a notification token"],
             ["send", "receive", "register for", "schedule", "handle"]),
    "maps": (["an offline map", "map directions", "driving directions on a map", "GPS location on a map", "map pins"],
             ["show", "download", "draw", "track", "search"]),
    "speech": (["speech recognition", "voice dictation", "transcribing spoken words", "voice input to text", "speech to text"],
               ["use", "start", "enable", "record", "support"]),
    "pdf": (["a PDF export", "PDF files", "a PDF document", "pages saved as PDF", "PDF generation"],
            ["export", "create", "save", "render", "merge"]),
    "login": (["two-factor login", "two factor authentication", "one time password codes", "login with a second factor", "2FA codes"],
              ["require", "verify", "enable", "reset", "add"]),
    "csv": (["CSV import", "a CSV file", "importing spreadsheets", "comma separated files", "an Excel spreadsheet upload"],
            ["import", "parse", "read", "upload", "convert"]),
    "widgets": (["home screen widgets", "a lock screen widget", "widget timelines", "refreshing a home screen widget", "a widget extension"],
                ["refresh", "build", "configure", "update", "design"]),
    "video": (["video playback", "a video player", "streaming movies", "picture in picture video", "playing a video file"],
              ["play", "embed", "pause", "stream", "loop"]),
    "database": (["a SQLite database", "database migrations", "a local SQL database", "schema migration of the database",
                  "storing rows in SQLite"], ["query", "migrate", "open", "encrypt", "back up"]),
    "health": (["heart rate data", "step counts from the watch", "health records", "workout data", "heart rate monitoring"],
               ["read", "record", "sync", "share", "graph"]),
    "tax": (["VAT invoices", "sales tax calculation", "invoice numbering with VAT", "tax rates per country", "VAT on receipts"],
            ["compute", "print", "change", "add", "report"]),
}


def phrasings(topic: str) -> list[str]:
    """Different queries of a topic, the same in each run."""
    generator = random.Random(f"{topic}1")
    things, verbs = TOPICS[topic]
    queries: dict[str, None] = {}
    while len(queries) < PHRASINGS:
        queries[generator.choice(FORMS).format(verb=generator.choice(verbs), thing=generator.choice(things))] = None
    return list(queries)
