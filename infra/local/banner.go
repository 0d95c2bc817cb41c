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
	routes, endpoints := p.routes(), [][]string{}
	for _, e := range p.endpoints() {
		endpoints = append(endpoints, []string{e.name, e.address})
	}
	for _, rows := range [][][]string{routes, endpoints} {
		if err := writeTable(w, rows); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	if _, err := io.WriteString(w, modelHint(p.stack.Functions, p.models)); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	address := fmt.Sprintf("http://localhost:%d", p.http.port)
	if p.gateway == nil {
		address = p.awsAddress()
	}
	if _, err := fmt.Fprintf(w, "ready: %s\n", address); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// routes are the ways to the functions: over HTTP, from streams and queues, and by the clock.
func (p *platform) routes() (routes [][]string) {
	_, sites, _ := findAPIs(p.stack) // checked when the gateways were made
	for i := range p.stack.APIs {
		api, origin := &p.stack.APIs[i], ""
		if api == sites {
			origin = p.siteAddress()
		}
		sorted := slices.SortedStableFunc(slices.Values(api.Routes), func(a, b stack.Route) int { return strings.Compare(a.Path, b.Path) })
		for _, route := range sorted {
			function := route.Function
			if route.Stream {
				function += " (streamed)"
			}
			routes = append(routes, []string{route.Method, origin + route.Path, function})
		}
	}
	called := func(function string, enabled bool) string {
		if !enabled {
			return function + " (disabled)"
		}
		return function
	}
	for _, m := range p.stack.EventSourceMappings {
		kind, source := "stream", m.Table
		if m.Queue != "" {
			kind, source = "queue", m.Queue
		}
		routes = append(routes, []string{kind, source, called(m.Function, m.Enabled)})
	}
	for _, s := range p.stack.Schedules {
		routes = append(routes, []string{"schedule", s.Expression, called(s.Function, s.Enabled)})
	}
	return routes
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

// awsAddress is where the AWS port answers.
func (p *platform) awsAddress() string { return fmt.Sprintf("http://127.0.0.1:%d", p.aws.port) }

// endpoints are the addresses that people use beside the API itself.
func (p *platform) endpoints() (all []endpoint) {
	const stores = "DynamoDB and its streams, SQS, S3, Secrets Manager"
	services := "Lambda, " + stores
	if p.gateway != nil {
		all = append(all, endpoint{"https", fmt.Sprintf("https://localhost:%d  (self-signed)", p.https.port)})
	}
	if p.siteGateway != nil {
		all = append(all, endpoint{"sites", p.siteAddress()})
	}
	if p.settings.EndpointURL != "" {
		services = "Lambda"
		all = append(all, endpoint{"data", p.settings.EndpointURL + "  (" + stores + ")"})
	} else {
		all = append(all, endpoint{"data", p.settings.DataDir})
	}
	all = append(all, endpoint{"AWS", p.awsAddress() + "  (" + services + ")"})
	if p.codehost != nil {
		all = append(all, endpoint{"code host", p.awsAddress() + codehostPath + "/"})
	}
	return all
}
