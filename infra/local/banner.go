package main

import (
	"fmt"
	"io"
	"sort"
	"text/tabwriter"

	"devplatform/infra/local/stack"
)

// banner writes the table of what runs and where, then the line that tells that it is ready.
func (p *platform) banner(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, api := range p.stack.APIs {
		routes := append([]stack.Route(nil), api.Routes...)
		sort.SliceStable(routes, func(i, j int) bool { return routes[i].Path < routes[j].Path })
		for _, route := range routes {
			mode := ""
			if route.Stream {
				mode = " (streamed)"
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s%s\n", route.Method, route.Path, route.Function, mode)
		}
	}
	_, _ = fmt.Fprintf(table, "\t\t\n")
	for _, e := range p.endpoints() {
		_, _ = fmt.Fprintf(table, "%s\t%s\t\n", e.name, e.address)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if _, err := fmt.Fprintf(w, "ready: http://localhost:%d\n", p.http.port); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

type endpoint struct{ name, address string }

// endpoints are the addresses that people use beside the API itself.
func (p *platform) endpoints() []endpoint {
	awsAddress := fmt.Sprintf("http://127.0.0.1:%d", p.aws.port)
	services := "Lambda, DynamoDB, Secrets Manager"
	all := []endpoint{
		{"https", fmt.Sprintf("https://localhost:%d  (self-signed)", p.https.port)},
	}
	if p.settings.EndpointURL != "" {
		services = "Lambda"
		all = append(all, endpoint{"data", p.settings.EndpointURL + "  (DynamoDB, Secrets Manager)"})
	} else {
		all = append(all, endpoint{"data", p.settings.DataDir})
	}
	all = append(all, endpoint{"AWS", awsAddress + "  (" + services + ")"})
	if p.codehost != nil {
		all = append(all, endpoint{"code host", awsAddress + codehostPath + "/"})
	}
	return all
}
