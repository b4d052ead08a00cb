"""Tables of label counts: what is read, and what is refused with its place and the way out."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.data.label_counts import LARGEST_COUNT, TOTALS, LabelCounts, read_costs, read_counts, read_gram, read_pairs
from planner.errors import ScenarioError

WIDE = "client,group,cat,dog\n001,a,3,4\n1,a,0,2\nNA,b,5,0\n"
LONG = "client,group,label,count\n001,a,cat,3\n001,a,dog,4\n1,a,dog,2\nNA,b,cat,5\n"
SEMICOLONS = "client;group;cat;dog\na;g;1;2\n"


def read(folder: Path, text: str | bytes, **options: bool) -> LabelCounts:
    file = folder / "counts.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_counts(file, **options)


@pytest.mark.parametrize(
    "text",
    [
        WIDE,
        LONG,
        "\ufeff" + WIDE,
        WIDE.replace("\n", "\r\n"),
        WIDE.replace("cat,dog", " cat , dog "),
        WIDE.replace("\n", "\n\n"),
        WIDE.replace("3,4", '"3","4"'),
        WIDE.replace("3,4", "3.0,4.0"),
        "group,dog,cat,client\na,4,3,001\na,2,0,1\nb,0,5,NA\n",
        "client,group,Num samples,cat,dog\n001,a,7,3,4\n1,a,2,0,2\nNA,b,5,5,0\n",
        "client,group,cat,dog,n\n001,a,3,4,7\n1,a,0,2,2\nNA,b,5,0,5\n",
        "label,count,group,client\ncat,3,a,001\ncat,5,b,NA\ndog,4,a,001\ndog,2,a,1\n",
    ],
)
def test_what_is_read_does_not_depend_on_the_form(tmp_path: Path, text: str) -> None:
    table = read(tmp_path, text)
    found = {
        client: (table.groups[g], dict(zip(table.labels, row, strict=True)))
        for client, g, row in zip(table.clients, table.group_of, table.counts.tolist(), strict=True)
    }
    assert found == {
        "001": ("a", {"cat": 3, "dog": 4}),
        "1": ("a", {"cat": 0, "dog": 2}),
        "NA": ("b", {"cat": 5, "dog": 0}),
    }


@pytest.mark.parametrize("mark", [";", "\t"])
def test_semicolons_and_tabs_separate_as_commas_do(tmp_path: Path, mark: str) -> None:
    """As spreadsheets write where the comma is the decimal mark."""
    text = '\ufeff\nclient,group,cat,dog\na,g,1,2\nb,"h",3,4\n'
    one, other = read(tmp_path, text), read(tmp_path, text.replace(",", mark))
    assert (one.clients, one.groups, one.labels) == (other.clients, other.groups, other.labels)
    assert (one.counts == other.counts).all()


def test_letters_as_labels_are_no_totals(tmp_path: Path) -> None:
    assert read(tmp_path, "client,group,m,n\na,g,1,2\nb,h,3,4\n").labels == ("m", "n")


def test_counts_between_semicolons_may_have_a_decimal_comma(tmp_path: Path) -> None:
    with_comma, plain = (read(tmp_path, f"{SEMICOLONS}b;h;{a};{b}\n") for a, b in (("80,0", "20,00"), ("80", "20")))
    assert (with_comma.counts == plain.counts).all()


@pytest.mark.parametrize(
    ("text", "place", "fact", "way_out"),
    [
        ("", "", "is empty", "Write a header"),
        ("\n\n", "", "is empty", "Write a header"),
        ("client,group,cat,dog\n", ":1", "no client below", "Add a line"),
        ("client|group|cat|dog\na|g|1|2\n", ":1:1", "separated by bars", "commas"),
        (
            "client,group,cat,dog,samples\na,g,1,2,3\nb,g,3,4,8\n",
            ":1:5",
            "is 8 in line 3, where the labels add up to 7",
            "add the labels that are missing",
        ),
        (
            "Client,group,cat,dog\na,g,1,2\n",
            ":1",
            "no column 'client' (is 'Client' it?)",
            "Write the header client,group,",
        ),
        ("client,cat,dog\na,1,2\n", ":1", "no column 'group' among 'client', 'cat', 'dog'", "hfl-plan group"),
        ("client,cat,dog\na,1,2\n", ":1", "no column 'group' among 'client', 'cat', 'dog'", "recommend --clients N"),
        ("site,country,k,l,m,n\na,b,1,2,3,4\n", ":1", "among 'site', 'country', 'k', 'l', 'm' ...", "client,group,"),
        ("client,grp,cat,dog\na,g,1,2\n", ":1", "(is 'grp' it?)", "Write the header client,group,"),
        ("client,group\na,g\n", ":1", "no column of label counts", "client,group,label,count"),
        ("client,group,cat,cat\na,g,1,2\n", ":1:4", "'cat' comes twice, also as field 3", "Rename"),
        ("client,group,cat,\na,g,1,2\n", ":1:4", "is not a name", "Name every column"),
        ("client,group,label,count,cat\na,g,x,1,2\n", ":1:5", "'cat' has no meaning", "Remove"),
        (WIDE + "d,a,1\n", ":5:4", "3 fields, and 4 columns", "field for each column"),
        (WIDE + "d,a,1,2,3\n", ":5:5", "5 fields, and 4 columns", "field for each column"),
        (WIDE + "d,a,1,000,3\n", ":5:5", "5 fields", "1000 and not 1,000"),
        (WIDE + 'd,a,"1,000",3\n', ":5:3", "'1,000' in column 'cat' is no count", "write 1000"),
        (WIDE + 'd,a,"80,5",3\n', ":5:3", "'80,5' in column 'cat' is no count: 80.5 is no", f"{LARGEST_COUNT}."),
        (WIDE + 'd,a,"80,0",3\n', ":5:3", "'80,0' in column 'cat' is no count", "write 80."),
        (WIDE + "d,a,1_5,3\n", ":5:3", "'1_5' in column 'cat' is no count", f"{LARGEST_COUNT}."),
        (
            SEMICOLONS + "d;a;80,5;3\n",
            ":3:3",
            "'80,5' in column 'cat' is no count: 80.5 is no whole",
            f"{LARGEST_COUNT}.",
        ),
        (SEMICOLONS + "d;a;80,000;3\n", ":3:3", "'80,000' in column 'cat' is no count", "write 80000 or 80: it may be"),
        (SEMICOLONS + "d;a;1.000;3\n", ":3:3", "'1.000' in column 'cat' is no count", "write 1000 or 1."),
        (SEMICOLONS + "d;a;-3,5;1\n", ":3:3", "'-3,5' in column 'cat' is negative", f"{LARGEST_COUNT}."),
        (SEMICOLONS.replace(";", "\t") + "d\ta\t80,5\t3\n", ":3:3", "80.5 is no whole number", f"{LARGEST_COUNT}."),
        (WIDE + "d,a,-3,1\n", ":5:3", "'-3' in column 'cat' is negative", "from 0 to"),
        (WIDE + "d,a,3.5,1\n", ":5:3", "is no count", "whole numbers"),
        (WIDE + "d,a,3.00,1\n", ":5:3", "is no count", "write 3"),
        ('{\n "schema": "hfl-plan/group/2"\n}', ":1", "this is JSON, and no table", "Give a CSV file"),
        (WIDE + "d,a,1e3,1\n", ":5:3", "is no count", "write 1000"),
        (WIDE + "d,a,,1\n", ":5:3", "nothing stands", "write 0 for none"),
        (WIDE + "d,a,many,1\n", ":5:3", "'many'", "whole numbers"),
        (WIDE + "d,a,nan,1\n", ":5:3", "'nan'", "whole numbers"),
        (WIDE + "d,a,\u0663,1\n", ":5:3", "is no count", "whole numbers"),
        (WIDE + f"d,a,{10**30},1\n", ":5:3", "is no count", "from 0 to"),
        (WIDE + f"d,a,{LARGEST_COUNT + 1},1\n", ":5:3", "is no count", "from 0 to"),
        (WIDE + "d,a,1e400,1\n", ":5:3", "is no count", "from 0 to"),
        (WIDE + "1,a,1,1\n", ":5:1", "client '1' is on line 3 already", "Keep one"),
        (WIDE + "1,b,1,1\n", ":5:2", "in group 'b' here, and in 'a' on line 3", "`hfl-plan overlap"),
        (LONG + "1,b,cat,1\n", ":6:2", "in group 'b' here, and in 'a' on line 4", "overlapping"),
        (LONG + "1,a,dog,1\n", ":6", "'1' and label 'dog' come twice", "Add their counts up"),
        (WIDE + " ,a,1,1\n", ":5:1", "a client has no name", "Write its id"),
        (WIDE + "d,,1,1\n", ":5:2", "a group has no name", "Write its id"),
        (LONG + "d,a,,1\n", ":6:3", "a label has no name", "Write its id"),
        (WIDE + f"{'x' * 201},a,1,1\n", ":5:1", "is not a name of a client", "200"),
        (WIDE + "d,a,0,0\n", ":5", "client 'd' has no samples", "--skip-empty"),
        (WIDE + "d,a,0,0\ne,b,0,0\n", ":5", "so do 1 more", "--skip-empty"),
        ("client,group,cat,dog\na,g,1,0\nb,g,7,0\n", "", "all samples have one label", "zeta=0.5"),
        ("client,group,cat\na,g,1\nb,g,7\n", "", "all samples have one label", "zeta=0.5"),
        (WIDE + f'd,a,"{"9" * 200_000}",1\n', ":5", "is not CSV", "Save it"),
        (WIDE + 'd,a,"1,1\n', ":5", "is not CSV", "Save it"),
        (WIDE.encode() + b"\xe9,a,1,1\n", ":5", "is not UTF-8 text (byte 48)", "UTF-8"),
        (WIDE.encode("utf-16"), ":1", "is UTF-16", "UTF-8"),
        (WIDE.encode() + b"d\0,a,1,1\n", ":5", "NUL byte", "Check the path"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", ":3", "NUL byte", "Check the path"),
    ],
)
def test_what_is_refused_says_where_why_and_the_way_out(
    tmp_path: Path, text: str | bytes, place: str, fact: str, way_out: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        read(tmp_path, text)
    said = str(refused.value)
    assert said.startswith(f"{tmp_path / 'counts.csv'}{place}: ")
    assert fact in said
    assert way_out in said
    assert len(said) - len(str(tmp_path)) < 320
    assert "\n" not in said


def test_files_that_are_none(tmp_path: Path) -> None:
    for path in (tmp_path / "no.csv", tmp_path, Path("a\0b.csv")):
        with pytest.raises(ScenarioError, match="cannot be read"):
            read_counts(path)


def test_clients_without_samples_can_be_left_out(tmp_path: Path) -> None:
    table = read(tmp_path, WIDE + "d,a,0,0\n", skip_empty=True)
    assert table.clients == ("001", "1", "NA")
    assert table.warnings == ("1 of 4 clients have no samples and are left out.",)
    with pytest.raises(ScenarioError, match="no client of group 'c' has samples"):
        read(tmp_path, WIDE + "d,c,0,0\n", skip_empty=True)


def test_groups_may_be_missing_where_they_are_about_to_be_made(tmp_path: Path) -> None:
    table = read(tmp_path, "client,cat,dog\na,1,2\nb,0,3\n", grouped=False)
    assert table.groups == ()
    assert table.labels == ("cat", "dog")


NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=8)


@settings(max_examples=10)
@given(
    names=st.lists(NAMES, min_size=2, max_size=5, unique=True),
    labels=st.lists(
        NAMES.filter(lambda n: n not in ("client", "group") and re.sub(r"[ _.-]", "", n).casefold() not in TOTALS),
        min_size=2,
        max_size=4,
        unique=True,
    ),
    data=st.data(),
)
def test_any_names_survive_and_both_forms_agree(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], labels: list[str], data: st.DataObject
) -> None:
    import csv
    import io

    counts = data.draw(
        st.lists(
            st.lists(st.integers(1, 10**12), min_size=len(labels), max_size=len(labels)),
            min_size=len(names),
            max_size=len(names),
        )
    )
    wide, long = io.StringIO(), io.StringIO()
    csv.writer(wide).writerows(
        [["client", "group", *labels], *([n, f"g{n}", *row] for n, row in zip(names, counts, strict=True))]
    )
    csv.writer(long).writerow(["client", "group", "label", "count"])
    for name, row in zip(names, counts, strict=True):
        csv.writer(long).writerows([name, f"g{name}", label, n] for label, n in zip(labels, row, strict=True))
    folder = tmp_path_factory.mktemp("x")
    is_long = {"label", "count"} <= set(labels)
    tables = [read(folder, long.getvalue())]
    if not is_long:
        tables.append(read(folder, wide.getvalue()))
    for table in tables:
        assert table.clients == tuple(sorted(names))
        assert table.labels == tuple(sorted(labels))
        rows, columns = (
            [given.index(name) for name in kept] for given, kept in ((names, table.clients), (labels, table.labels))
        )
        assert (table.counts == np.array(counts, dtype=float)[np.ix_(rows, columns)]).all()
        assert [table.groups[g] for g in table.group_of] == [f"g{name}" for name in table.clients]


def test_pairs_costs_and_gram(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("client,other,rule\na,b,must\nb,c,cannot\n")
    assert read_pairs(file, ["a", "b", "c"]) == {"must": [(0, 1)], "cannot": [(1, 2)]}
    file.write_text("client,near,far\na,1,2.5\nb,0,1e2\n")
    servers, costs = read_costs(file, ["a", "b"])
    assert servers == ("far", "near")
    assert costs.tolist() == [[2.5, 1], [100, 0]]
    file.write_text("client,server,cost\nb,far,100\na,near,1\na,far,2.5\nb,near,0\n")
    servers, costs = read_costs(file, ["a", "b"])
    assert servers == ("far", "near")
    assert costs.tolist() == [[2.5, 1], [100, 0]]
    file.write_text("label,dog,cat\ncat,-1,2\ndog,3,-1\n")
    assert read_gram(file, ["cat", "dog"]).tolist() == [[2, -1], [-1, 3]]


@pytest.mark.parametrize(
    ("reader", "text", "wanted"),
    [
        (read_pairs, "client,other,rule\na,x,must\n", ":2:2: no client 'x'"),
        (read_pairs, "client,other,rule\na,b,maybe\n", ":2:3: 'maybe' is no rule. Write must or cannot"),
        (read_pairs, "client,other,rule\na,a,must\n", ":2: client 'a' is paired with itself"),
        (read_pairs, "client,other\na,b\n", "no column 'rule'"),
        (read_costs, "client,s\na,-1\nb,1\n", ":2:2: '-1' in column 's' is not a cost"),
        (read_costs, "client,s\na,inf\nb,1\n", "is not a cost"),
        (read_costs, "client,s\na,1\n", "no cost of client 'b' at server 's'"),
        (read_costs, "client,s\na,1\na,2\n", "come twice"),
        (read_costs, "client\na\nb\n", "there are no servers"),
        (read_gram, "label,a,b\na,1,0\n", "no line of label 'b'"),
        (read_gram, "label,a\na,1\n", "no column 'b'"),
        (read_gram, "label,0,1\n0,1,0\n1,0,1\n", "'0', '1'. Write the labels of the counts there, a, b, "),
        (read_gram, "label,a,b\na,1,0\nb,1,1\n", "symmetric"),
        (read_gram, "label,a,b\na,1,2\nb,2,1\n", "no gradients have these"),
        (read_gram, "label,a,b\na,0,0\nb,0,0\n", "no gradients have these"),
        (read_gram, "label,a,b\na,1,x\nb,2,1\n", ":2:3: 'x' in column 'b' is not an inner product"),
        (read_gram, "label,a,b\na,1,0\na,1,0\n", ":3:1: label 'a' is on line 2 already"),
        (read_gram, "label,a,b\nc,1,0\n", ":2:1: the counts have no label 'c'"),
    ],
)
def test_what_is_refused_of_the_other_tables(tmp_path: Path, reader, text: str, wanted: str) -> None:
    file = tmp_path / "x.csv"
    file.write_text(text)
    with pytest.raises(ScenarioError) as refused:
        reader(file, ["a", "b"])
    assert wanted in str(refused.value)
    assert len(str(refused.value)) - len(str(tmp_path)) < 250
