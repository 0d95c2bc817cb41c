package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"devplatform/infra/local/stack"
)

// banner writes the table of what runs and where, then the line that tells that it is ready.
func (p *platform) banner(w io.Writer) error {
	var routes, endpoints [][]string
	for _, api := range p.stack.APIs {
		sorted := slices.SortedStableFunc(slices.Values(api.Routes), func(a, b stack.Route) int { return strings.Compare(a.Path, b.Path) })
		for _, route := range sorted {
			function := route.Function
			if route.Stream {
				function += " (streamed)"
			}
			routes = append(routes, []string{route.Method, route.Path, function})
		}
	}
	for _, m := range p.stack.EventSourceMappings {
		function := m.Function
		if !m.Enabled {
			function += " (disabled)"
		}
		routes = append(routes, []string{"stream", m.Table, function})
	}
	for _, e := range p.endpoints() {
		endpoints = append(endpoints, []string{e.name, e.address})
	}
	for _, rows := range [][][]string{routes, endpoints} {
		if err := writeTable(w, rows); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	if _, err := fmt.Fprintf(w, "ready: http://localhost:%d\n", p.http.port); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// writeTable writes rows in aligned columns and an empty line behind them.
func writeTable(w io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

type endpoint struct{ name, address string }

// endpoints are the addresses that people use beside the API itself.
func (p *platform) endpoints() []endpoint {
	awsAddress := fmt.Sprintf("http://127.0.0.1:%d", p.aws.port)
	services := "Lambda, DynamoDB and its streams, Secrets Manager"
	all := []endpoint{
		{"https", fmt.Sprintf("https://localhost:%d  (self-signed)", p.https.port)},
	}
	if p.settings.EndpointURL != "" {
		services = "Lambda"
		all = append(all, endpoint{"data", p.settings.EndpointURL + "  (DynamoDB and its streams, Secrets Manager)"})
	} else {
		all = append(all, endpoint{"data", p.settings.DataDir})
	}
	all = append(all, endpoint{"AWS", awsAddress + "  (" + services + ")"})
	if p.codehost != nil {
		all = append(all, endpoint{"code host", awsAddress + codehostPath + "/"})
	}
	return all
}
