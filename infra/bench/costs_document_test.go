package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCostsAreCurrent checks that the prices in COSTS.md are those of last.txt.
func TestCostsAreCurrent(t *testing.T) {
	t.Parallel()
	document := read(t, "COSTS.md")
	begin, end, ok := findFigures(document)
	if !ok {
		t.Fatalf("COSTS.md has no line %s with a line %s below it", figuresBegin, figuresEnd)
	}
	want, err := figures(read(t, "last.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := document[begin:end]; got != want {
		t.Errorf("COSTS.md has the prices\n%s\nlast.txt has\n%s\nmake bench updates both", got, want)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestSumOf(t *testing.T) {
	t.Parallel()
	const table = "                       sum     calls\n" +
		"save 4 KiB          $12.90         4\n" +
		"                     3.500     0.200\n" +
		"save 4 KiB, new     $11.80         5\n" +
		"an idle stack        $6.25\n" +
		"+ an idle stack      $7.00\n" +
		"twice $1.00\ntwice $2.00\n"
	for row, want := range map[string]string{"save 4 KiB": "$12.90", "save 4 KiB, new": "$11.80", "an idle stack": "$6.25"} {
		if got, err := sumOf(table, row); err != nil || got != want {
			t.Errorf("sumOf(%q) = %q, %v, want %q", row, got, err, want)
		}
	}
	for _, row := range []string{"save", "absent", "twice"} {
		if got, err := sumOf(table, row); err == nil {
			t.Errorf("sumOf(%q) = %q, want an error", row, got)
		}
	}
}

// allRows returns a table with every row that COSTS.md shows.
func allRows() string {
	var text strings.Builder
	for _, d := range documented {
		text.WriteString(d.row + "  $1.50   2\n")
	}
	return text.String()
}

func TestUpdateFigures(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "COSTS.md")
	for _, c := range []struct{ name, before string }{
		{"old figures", "before\n" + figuresBegin + "\nold\n" + figuresEnd + "\nafter\n"},
		{"no figures yet", "before\n" + figuresBegin + figuresEnd + "\nafter\n"},
	} {
		if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second update changes nothing
			if err := updateFigures(path, allRows()); err != nil {
				t.Fatal(err)
			}
			got := read(t, path)
			if !strings.HasPrefix(got, "before\n"+figuresBegin) || !strings.HasSuffix(got, figuresEnd+"\nafter\n") ||
				strings.Contains(got, "old") || strings.Count(got, "| log in | $1.50 per million |\n") != 1 {
				t.Errorf("%s: updated to\n%s", c.name, got)
			}
		}
	}
	if err := updateFigures(path, "nothing"); err == nil {
		t.Error("a table without the figures was accepted")
	}
	const noFigures = "no table of prices\n"
	if err := os.WriteFile(path, []byte(noFigures), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := updateFigures(path, allRows()); err == nil || read(t, path) != noFigures {
		t.Errorf("a document without a table of prices: error %v and the text %q, want an error and no change", err, read(t, path))
	}
}
