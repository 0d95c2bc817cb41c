package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"devplatform/infra/bench/price"
	"devplatform/infra/bench/rig"
	"devplatform/infra/local/stack"
)

// inventory is what the template has that is billed by the month.
type inventory struct {
	alarms          int // metrics that are alarmed on
	secrets         int
	dashboards      int
	logMetrics      int     // metrics that CloudWatch makes of logs
	detailedMetrics bool    // the gateway tells of each route
	accessLog       float64 // bytes of a line of the gateway's access log
}

// takeInventory reads a template. What stands under a condition counts.
func takeInventory(path string) (inventory, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return inventory{}, fmt.Errorf("template: %w", err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string    `yaml:"Type"`
			Properties yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(content, &template); err != nil {
		return inventory{}, fmt.Errorf("template: %w", err)
	}
	var i inventory
	for _, resource := range template.Resources {
		switch resource.Type {
		case "AWS::CloudWatch::Alarm":
			i.alarms += max(1, occurrences(&resource.Properties, "MetricStat"))
		case "AWS::SecretsManager::Secret":
			i.secrets++
		case "AWS::CloudWatch::Dashboard":
			i.dashboards++
		case "AWS::Logs::MetricFilter":
			i.logMetrics += occurrences(&resource.Properties, "MetricName")
		case "AWS::Serverless::Api":
			i.detailedMetrics = strings.Contains(find(&resource.Properties, "MetricsEnabled"), "true")
			if format := find(&resource.Properties, "Format"); format != "" {
				i.accessLog = accessLogLine(format)
			}
		}
	}
	return i, nil
}

// occurrences counts the members of that name, however deep.
func occurrences(node *yaml.Node, name string) int {
	n := 0
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Value == name {
			n++
		}
		n += occurrences(child, name)
	}
	return n
}

// find is the value of the first member of that name, however deep; "" where there is none.
func find(node *yaml.Node, name string) string {
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Value == name {
			return node.Content[i+1].Value
		}
		if value := find(child, name); value != "" {
			return value
		}
	}
	return ""
}

// accessLogLine guesses the length of a line of that format: a value is taken to be as long as its variable's name.
func accessLogLine(format string) float64 {
	const overhead = 26 // CloudWatch's, of a line
	return float64(len(strings.ReplaceAll(format, "$context.", "")) + overhead)
}

// entry is a line of a month's bill.
type entry struct {
	name string
	price.Line
}

// of makes one.
func of(name string, units float64, p price.Price) entry {
	return entry{name, price.Line{Price: p, Units: units}}
}

// entries are the components of what units cost, those that are nothing left out.
func entries(of string, units price.Units) []entry {
	var all []entry
	for _, line := range units.Lines() {
		if line.Units > 0 {
			all = append(all, entry{of + ": " + line.Price.Name, line})
		}
	}
	return all
}

// idleMonth is the bill of a stack that nobody uses: what runs by the clock, what waits, and what is kept ready.
func idleMonth(s *stack.Stack, i inventory, scheduled rig.Taken, metrics int) []entry {
	const (
		pollers  = 5                // Lambda's, of a queue with a limit on its concurrency
		longPoll = 20 * time.Second // how long each waits
		keyLife  = 5 * time.Minute  // how long DynamoDB keeps a table's key, for each of its callers
	)
	runs := price.Every(time.Minute)
	queues := 0
	for _, m := range s.EventSourceMappings {
		if m.Queue != "" {
			queues++
		}
	}
	all := []entry{
		of("alarms", float64(i.alarms), price.Alarm), of("secrets", float64(i.secrets), price.Secret), of("dashboards", float64(i.dashboards), price.Board),
		of("metrics that the job tells", float64(metrics), price.Metric),
		of("empty receives, 5 pollers x 3 a minute", float64(queues)*pollers*price.Every(longPoll), price.Poll),
		of("a schedule, once a minute", runs*float64(len(s.Schedules)), price.Schedule),
		of("tables' key, every 5 minutes", float64(len(s.Schedules))*price.Every(keyLife), price.Key),
	}
	return append(all, entries("its job", scheduled.Units.Times(runs))...)
}

// The example: a service with a thousand users a day, who work for ten hours.
const (
	exampleUsers = 1000
	exampleHours = 10
	exampleGB    = 5 // stored
	// inputTokens and outputTokens are taken to be those of a chat about a project of some twenty small files.
	inputTokens, outputTokens = 6000, 800
)

// exampleDay is what one of them does in a day.
var exampleDay = []struct {
	request string
	times   float64
}{
	{reqLogin, 0.2}, {reqMe, 10}, {reqList, 8}, {reqCreate, 0.2}, {reqProject, 8}, {reqListing, 5}, {reqRead4, 40}, {reqRead100, 2},
	{reqSave4, 25}, {reqSave100, 1}, {reqBatch, 1}, {reqHistory, 1}, {reqFeed, 5}, {reqComment, 1}, {reqStream, 6}, {reqTenSecs, 6}, {reqLone, 30},
}

// exampleMonth is that service's bill beyond the idle stack's, and how many requests and chats there are.
func (b *bench) exampleMonth(s *stack.Stack, i inventory, metrics int) (all []entry, requests, chats float64) {
	days := price.Month.Hours() / 24
	var sum price.Units
	for _, did := range exampleDay {
		n := did.times * exampleUsers * days
		sum = sum.Plus(b.taken(did.request).Units.Times(n))
		if did.request == reqStream {
			chats = n
		}
	}
	// An invocation follows a request, or begins a trace itself.
	sum.Traces = price.Traced(sum.Invocations, time.Duration(days*exampleHours*float64(time.Hour)))
	all = entries("use", sum)
	all = append(all, of("tables", exampleGB, price.Storage), of("tables", exampleGB, price.Recovery), of("metrics that deliveries tell", float64(metrics), price.Metric),
		of("metrics made of logs, at most", float64(i.logMetrics), price.Metric))
	if i.detailedMetrics {
		const each = 5 // Count, Latency, IntegrationLatency, 4XXError, 5XXError
		all = append(all, of("gateway's metrics, 5 a route", float64(len(s.APIs[0].Routes)*each), price.Metric))
	}
	return all, sum.Gateway, chats
}

// taken is what a request takes.
func (b *bench) taken(name string) rig.Taken {
	for _, row := range b.rows {
		if row.name == name {
			return row.taken
		}
	}
	panic("no such request is measured: " + name)
}

// Names of the sums of months.
const (
	idleSum    = "an idle stack"
	exampleSum = "the example service"
)

// printMonths shows what months cost.
func (b *bench) printMonths(s *stack.Stack, i inventory, scheduled rig.Taken, idleMetrics, allMetrics int) {
	idle := idleMonth(s, i, scheduled, idleMetrics)
	b.section("A MONTH (730 h) of a stack that nobody uses, as the template has it", "sum", "units", "price")
	idleCosts := b.printEntries(idle)
	b.row(idleSum, dollars(idleCosts))

	used, requests, chats := b.exampleMonth(s, i, allMetrics-idleMetrics)
	b.section(fmt.Sprintf("A MONTH of a service with %d users a day, %.1f million requests, all in %d hours of the day, %d GB stored",
		exampleUsers, requests/1e6, exampleHours, exampleGB), "sum", "units", "price")
	costs := b.printEntries(used)
	b.row("+ what an idle stack costs", dollars(idleCosts))
	b.row(exampleSum, dollars(costs+idleCosts))
	var day []string
	for _, did := range exampleDay {
		day = append(day, fmt.Sprintf("%g x %s", did.times, did.request))
	}
	b.line("A user's day: %s.", strings.Join(day, ", "))
	one := price.Tokens(inputTokens, outputTokens)
	b.line("Tokens come on top: input x $%g/M + output x $%g/M (Claude Sonnet 4.5 on Bedrock, global profile). %d + %d tokens are $%.4f a chat;",
		price.InputToken.Dollars, price.OutputToken.Dollars, inputTokens, outputTokens, one)
	b.line("the example's %.0f chats are %s a month, and everything else is small next to it.", chats, dollars(one*chats))
}

// printEntries prints the lines of a bill and answers their sum.
func (b *bench) printEntries(all []entry) (sum float64) {
	for _, e := range all {
		units := e.Units
		if e.Price.Per == 1<<30 {
			units /= 1 << 30
		}
		b.row(e.name, dollars(e.Dollars()), amountOf(units), fmt.Sprintf("$%.6g", e.Price.Dollars), "  per "+unitOf(e.Price))
		sum += e.Dollars()
	}
	return sum
}

// unitOf writes what a price is for.
func unitOf(p price.Price) string {
	switch p.Per {
	case 1, 1 << 30:
		return p.Unit
	case 1e6:
		return "million x " + p.Unit
	}
	return fmt.Sprintf("%.0f x %s", p.Per, p.Unit)
}
