package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// The calculated tables are between these lines of the document.
const (
	begin = "<!-- calculated by make costs -->\n"
	end   = "<!-- end of the calculated tables -->\n"
)

// write replaces the tables of a document.
func write(path, tables string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("document: %w", err)
	}
	before, rest, hasBegin := strings.Cut(string(document), begin)
	_, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		return errors.New("document: " + path + " has no lines " + begin + " and " + end)
	}
	if err := os.WriteFile(path, []byte(before+begin+tables+end+after), 0o644); err != nil {
		return fmt.Errorf("document: %w", err)
	}
	return nil
}

// tables returns all tables in Markdown.
func (r *result) tables() string {
	var text strings.Builder
	printf := func(format string, args ...any) { _, _ = fmt.Fprintf(&text, format, args...) }
	printf("### A million requests\n\n| request | price of a million | DynamoDB calls | read units | write units " +
		"| PUT | GET | queue | mails | invocations | GB-s | log KB | out KB |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.rows {
		u := row.units
		printf("| %s | %s |", row.name, formatDollars(1e6*u.dollars()))
		for _, n := range []float64{
			u[calls], u[reads], u[writes], u[puts], u[gets], u[queue], u[mails], u[invocations], u[gbSeconds],
			u[logBytes] / 1000, u[outBytes] / 1000,
		} {
			printf(" %s |", formatNumber(n))
		}
		printf("\n")
	}
	if i := slices.IndexFunc(r.rows, func(r *row) bool { return r.name == rowDownload }); i >= 0 {
		printf("\n%s\n", describeGigabyte(r.rows[i]))
	}
	idle := r.month(printf, "A month without users", r.idle)
	printf("| **sum** | **%s** | | |\n", formatDollars(idle))
	used := r.month(printf, fmt.Sprintf("A month with %d users a day", exampleUsers), r.used)
	printf("| a month without users | %s | | |\n| **sum** | **%s** | | |\n", formatDollars(idle), formatDollars(idle+used))
	printf("\nEach user does this in a day, all within %d hours: %s.\n", exampleHours, describeDay())
	chat := inputTokens.of(exampleInput) + outputTokens.of(exampleOutput)
	printf("\nThe tokens are not included: a chat with %d input and %d output tokens costs $%.4f "+
		"at the list price of Claude Sonnet 4.5 on Bedrock, so the %.0f chats of the month cost %s.\n",
		exampleInput, exampleOutput, chat, r.chats, formatDollars(chat*r.chats))
	printf("\n### Prices\n\n| | price | for | page | date |\n|---|---|---|---|---|\n")
	for _, p := range append(prices[:], monthlyPrices...) {
		if p.dollars > 0 {
			printf("| %s | $%g | %s | aws.amazon.com/%s | %s |\n", p.name, p.dollars, perUnit(p), p.source, p.seen)
		}
	}
	return text.String()
}

// month prints the entries of a month, and returns their sum.
func (r *result) month(printf func(string, ...any), title string, entries []entry) (sum float64) {
	printf("\n### %s\n\n| | price | units | price of a unit |\n|---|---|---|---|\n", title)
	for _, e := range entries {
		n := e.units
		if e.price.per == gigabyte {
			n /= gigabyte
		}
		cost := e.price.of(e.units)
		printf("| %s | %s | %s | $%g per %s |\n",
			e.name, formatDollars(cost), formatNumber(n), e.price.dollars, perUnit(e.price))
		sum += cost
	}
	return sum
}

// perUnit returns the number and name of the units of a price.
func perUnit(p price) string {
	switch p.per {
	case 1, gigabyte:
		return p.unit
	case million:
		return "million: " + p.unit
	}
	return fmt.Sprintf("%.0f: %s", p.per, p.unit)
}

func formatDollars(amount float64) string { return fmt.Sprintf("$%.2f", amount) }

// formatNumber formats a number with three digits, or without a fraction.
func formatNumber(n float64) string {
	if n >= 100 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.3g", n)
}
