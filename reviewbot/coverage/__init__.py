"""Coverage: the one definition of what it means that a file was reviewed, and every number and colour that follows.

Each file of a change ends in exactly one state:

    reviewed      something that understands its language read every hunk of it to the end
    partial       some of it was read or scanned, and a part was not: cut, failed, or without a reader
    scanned       plain-line scans (secrets, hidden text, leftovers, merge markers) saw every added line, and no more
    removed       the change deletes it, so that there is nothing to read
    not_reviewed  nothing read it; the reason says why

In a run with models only a model's reading makes a file *reviewed*: its complete hunks stood in a request that ended in
a valid answer (`readings`). Without models an analyzer that understands the language does. What a file needs is decided
before (`needs`): a review, the scans alone, or nothing. `states` assigns the states, `verdict` has the words, the one
count, and the one table of colours. Pure: values in, values out.
"""
