package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"devplatform/infra/local/platform"
	"devplatform/infra/local/resources"
)

// banner writes the table of what runs and where, a hint, and the ready line.
func banner(w io.Writer, p *platform.Platform, hint string) error {
	var text strings.Builder
	writeTable(&text, routes(p))
	writeTable(&text, addresses(p))
	text.WriteString(hint)
	_, _ = fmt.Fprintf(&text, "ready: %s\n", cmp.Or(p.URL, p.AWS))
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// routes returns rows for everything that invokes functions: HTTP routes, streams, queues and schedules.
func routes(p *platform.Platform) (rows [][]string) {
	for _, api := range p.Stack.APIs {
		origin := ""
		if platform.HasWildcardDomain(api) {
			origin = p.SiteAddress()
		}
		byPath := func(a, b resources.Route) int { return strings.Compare(a.Path, b.Path) }
		for _, route := range slices.SortedStableFunc(slices.Values(api.Routes), byPath) {
			function := route.Function
			if route.Stream {
				function += " (streamed)"
			}
			rows = append(rows, []string{route.Method, origin + route.Path, function})
		}
	}
	for _, m := range p.Stack.EventSourceMappings {
		kind, source := "stream", m.Table
		if m.Queue != "" {
			kind, source = "queue", m.Queue
		}
		rows = append(rows, []string{kind, source, m.Function})
	}
	for _, s := range p.Stack.Schedules {
		function := s.Function
		if !s.Enabled {
			function += " (disabled)"
		}
		rows = append(rows, []string{"schedule", s.Expression, function})
	}
	return rows
}

// addresses returns rows for the addresses of the platform.
func addresses(p *platform.Platform) (rows [][]string) {
	for _, link := range p.Links() {
		if link.Note != "" {
			link.Address += "  (" + link.Note + ")"
		}
		rows = append(rows, []string{link.Name, link.Address})
	}
	return rows
}

// writeTable writes rows in aligned columns, and an empty line after them.
func writeTable(w io.Writer, rows [][]string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}

// modelHint returns the line about the assistant's model, or "" if no function uses the built-in generator.
func modelHint(functions []resources.Function) string {
	if slices.ContainsFunc(functions, func(f resources.Function) bool { return f.Env["AI_PROVIDER"] == "scaffold" }) {
		return "assistant: built-in generator, not a language model (to use a model, see shared/config/README.md)\n\n"
	}
	return ""
}
