package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// The figures that README.md shows of the table stand between these lines.
const (
	figuresBegin = "<!-- figures of infra/bench/last.txt; make bench writes them -->"
	figuresEnd   = "<!-- end of figures -->"
)

// shown are the figures that README shows: requests by the million, and what a month costs.
var shown = []struct {
	per   string
	names []string
}{
	{"a million", []string{reqMe, reqLogin, reqList, reqSave4, reqSave100, reqSave1M, reqSaveNoise, reqRead4, reqRead1M, reqReadNoise,
		reqStream, reqTenSecs, reqLone, reqFlow}},
	{"a month", []string{idleSum, exampleSum}},
}

// figure is the sum that a table shows for a name: the amount of money right of it.
func figure(table, name string) (string, error) {
	found := regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+` +(\$[0-9.]+)( |$)`).FindAllStringSubmatch(table, -1)
	if len(found) != 1 {
		return "", fmt.Errorf("the table shows %d sums for %q, not one", len(found), name)
	}
	return found[0][1], nil
}

// figures is the part of README, in Markdown.
func figures(table string) (string, error) {
	var text strings.Builder
	text.WriteString(figuresBegin + "\n| what | dollars |\n|---|---|\n")
	for _, group := range shown {
		for _, name := range group.names {
			sum, err := figure(table, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&text, "| %s | %s %s |\n", name, sum, group.per)
		}
	}
	text.WriteString(figuresEnd)
	return text.String(), nil
}

// part finds the figures in a document.
func part(document string) (begin, end int, ok bool) {
	begin = strings.Index(document, figuresBegin)
	end = strings.Index(document, figuresEnd)
	return begin, end + len(figuresEnd), begin >= 0 && end > begin
}

// rewrite brings the figures of a document up to date with a table. A document that has no place for them stays as it is.
func rewrite(path, table string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	begin, end, ok := part(string(document))
	if !ok {
		return nil
	}
	text, err := figures(table)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(string(document[:begin])+text+string(document[end:])), 0o644); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	return nil
}
