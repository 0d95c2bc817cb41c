package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// The table of prices in COSTS.md is between these lines.
const (
	figuresBegin = "<!-- figures of infra/bench/last.txt; make bench writes them -->"
	figuresEnd   = "<!-- end of figures -->"
)

// documented are the rows of the benchmark's table that COSTS.md shows, with their names in COSTS.md.
var documented = []struct{ row, name, per string }{
	{reqMe, "read the current user", "million"},
	{reqLogin, "log in", "million"},
	{reqList, "list the projects of a user with one project", "million"},
	{reqSave4, "save a file of 4 KiB", "million"},
	{reqSave100, "save a file of 100 KiB", "million"},
	{reqSave1M, "save a file of 1 MiB, source code", "million"},
	{reqSaveNoise, "save a file of 1 MiB, incompressible", "million"},
	{reqRead4, "read a file of 4 KiB", "million"},
	{reqRead1M, "read a file of 1 MiB, source code", "million"},
	{reqReadNoise, "read a file of 1 MiB, incompressible", "million"},
	{reqStream, "streamed chat, without the model", "million"},
	{reqTenSecs, "each 10 seconds that a chat waits for the model", "million"},
	{reqLone, "webhook delivery of a single event to one subscriber", "million"},
	{reqFlow, "webhook delivery in a stream of events to ten subscribers", "million"},
	{idleSum, "a stack without users", "month"},
	{exampleSum, fmt.Sprintf("the example service with %d users a day", exampleUsers), "month"},
}

// sumOf returns the sum of a row of the benchmark's table: the amount of money in its first column.
func sumOf(table, row string) (string, error) {
	pattern := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(row) + ` +(\$[0-9.]+)( |$)`)
	rows := pattern.FindAllStringSubmatch(table, -1)
	if len(rows) != 1 {
		return "", fmt.Errorf("the table has %d rows with a sum for %q, want 1", len(rows), row)
	}
	return rows[0][1], nil
}

// figures returns the table of prices of COSTS.md in Markdown, with the lines around it.
func figures(table string) (string, error) {
	var text strings.Builder
	text.WriteString(figuresBegin + "\n| use | price |\n|---|---|\n")
	for _, d := range documented {
		sum, err := sumOf(table, d.row)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "| %s | %s per %s |\n", d.name, sum, d.per)
	}
	text.WriteString(figuresEnd)
	return text.String(), nil
}

// findFigures returns the position of the table of prices in a document, with the lines around it.
func findFigures(document string) (begin, end int, ok bool) {
	begin = strings.Index(document, figuresBegin)
	end = strings.Index(document, figuresEnd)
	return begin, end + len(figuresEnd), begin >= 0 && end > begin
}

// updateFigures replaces the table of prices in a document by the figures of the benchmark's table.
func updateFigures(path, table string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	begin, end, ok := findFigures(string(document))
	if !ok {
		return errors.New("figures: " + path + " has no line " + figuresBegin + " with a line " + figuresEnd + " below it")
	}
	text, err := figures(table)
	if err != nil {
		return err
	}
	updated := string(document[:begin]) + text + string(document[end:])
	if err := os.WriteFile(path, []byte(updated), 0o644); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	return nil
}
