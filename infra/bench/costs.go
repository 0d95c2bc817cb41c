package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"devplatform/infra/bench/price"
	"devplatform/infra/bench/rig"
	"devplatform/infra/local/runtime"
)

// costRow is what one request, or one delivery, takes.
type costRow struct {
	name  string
	taken rig.Taken
}

// costs measures what requests and deliveries take of everything that AWS bills, and does the sums: for a million of each kind, for
// a stack that nobody uses, and for a service of some size.
func (b *bench) costs(ctx context.Context) error {
	inventory, err := takeInventory(rig.Template)
	if err != nil {
		return err
	}
	meter := &rig.Meter{}
	parts, err := rig.Assemble(ctx, b.binaries, filepath.Join(b.scratch, "costs"), "", meter.Watch())
	if err != nil {
		return err
	}
	defer parts.Close()
	if err := b.priceRequests(ctx, parts, meter); err != nil {
		return err
	}
	memory := functionMemory(parts, "/api/ai/chat")
	b.rows = append(b.rows, costRow{reqTenSecs, rig.Taken{
		Millis: 10_000, Units: price.Units{GBSeconds: price.Billed(10*time.Second, memory)},
	}})
	p, err := b.newPipeline(ctx, "pipeline")
	if err != nil {
		return err
	}
	defer p.end()
	scheduled, err := p.scheduled(ctx)
	if err != nil {
		return err
	}
	idleMetrics := p.meter.Metrics()
	if err := b.priceDeliveries(ctx, p); err != nil {
		return err
	}
	b.printRows(inventory)
	b.printMonths(parts.Stack, inventory, scheduled, idleMetrics, p.meter.Metrics())
	b.printPrices()
	return nil
}

// functionMemory is the memory of the function that serves a path.
func functionMemory(parts *rig.Assembly, path string) int {
	for _, route := range parts.Stack.APIs[0].Routes {
		for _, f := range parts.Stack.Functions {
			if takes(route.Path, path) && f.Name == route.Function {
				return f.MemoryMB
			}
		}
	}
	return 0
}

// unheard measures what an event takes that nobody subscribed to.
func (p *pipeline) unheard(ctx context.Context, events int) (rig.Taken, error) {
	h, err := rig.NewHooked(ctx, p.URL, 0)
	if err != nil {
		return rig.Taken{}, err
	}
	defer h.Close()
	p.meter.Settle()
	for n := range events + 1 {
		if n == 1 { // the first starts the function
			p.meter.Settle()
			p.meter.Take()
		}
		before := p.meter.Invocations()
		if err := h.Change(); err != nil {
			return rig.Taken{}, err
		}
		for p.meter.Invocations() == before {
			if err := ctx.Err(); err != nil {
				return rig.Taken{}, fmt.Errorf("wait for the fan-out: %w", err)
			}
			time.Sleep(time.Millisecond)
		}
	}
	p.meter.Settle()
	taken := p.meter.Take().Times(1 / float64(events))
	taken.Traces = taken.Invocations * price.TracedShare
	return taken, nil
}

// scheduled measures what a run of the scheduled job takes that finds nothing to do.
func (p *pipeline) scheduled(ctx context.Context) (rig.Taken, error) {
	event, err := os.ReadFile("events/webhook-retry-schedule.json")
	if err != nil {
		return rig.Taken{}, fmt.Errorf("the schedule's event: %w", err)
	}
	const runs = 5
	for n := range runs + 1 {
		if n == 1 {
			p.meter.Settle()
			p.meter.Take()
		}
		response, err := p.Invoke(ctx, runtime.Invocation{Function: p.Stack.Schedules[0].Function, Payload: event})
		if err != nil {
			return rig.Taken{}, err
		}
		_ = response.Body.Close()
		if response.FunctionError != nil {
			return rig.Taken{}, fmt.Errorf("%s failed: %s", p.Stack.Schedules[0].Function, response.Payload)
		}
	}
	p.meter.Settle()
	taken := p.meter.Take().Times(1.0 / runs)
	taken.Traces = taken.Invocations // less than one a second: each is recorded
	return taken, nil
}

const (
	costName = 34
	costCell = 9
)

// costLine prints a line of the table of costs, whose columns are many and narrow.
func (b *bench) costLine(name string, cells []string) {
	var line strings.Builder
	fmt.Fprintf(&line, "%-*s", costName, name)
	for _, cell := range cells {
		fmt.Fprintf(&line, " %*s", costCell, cell)
	}
	b.line("%s", line.String())
}

// printRows shows, for every kind of request, how much it takes of each thing that is billed, and what a million cost.
func (b *bench) printRows(i inventory) {
	b.line("")
	b.line("COST IN DOLLARS OF A MILLION at list prices (us-east-1, on demand, no free allowance). Two lines each: what one takes, and times the price")
	heads, prices := []string{"sum", "calls", "time"}, []string{"", "", ""}
	heads = append(heads, "gateway", "invoked", "GB-s", "reads", "writes", "queue", "log KiB", "traces", "out KiB")
	for _, line := range (price.Units{}).Lines() {
		per := "/M"
		if line.Price.Per == 1<<30 {
			per = "/GB"
		}
		prices = append(prices, fmt.Sprintf("%.5g%s", line.Price.Dollars, per))
	}
	b.costLine("", heads)
	b.costLine("price", prices)
	for _, row := range b.rows {
		units := []string{dollars(row.million()), fmt.Sprintf("%.3g", row.taken.Calls), fmt.Sprintf("%.1f ms", row.taken.Millis)}
		costs := []string{"", "", ""}
		for _, line := range row.taken.Lines() {
			amount := line.Units
			if line.Price.Per == 1<<30 {
				amount /= 1024
			}
			units = append(units, amountOf(amount))
			costs = append(costs, fmt.Sprintf("%.3f", line.Dollars()*1e6))
		}
		b.costLine(row.name, units)
		b.costLine("", costs)
	}
	b.footnotes(i)
}

// footnotes say what the rows leave out.
func (b *bench) footnotes(i inventory) {
	b.line("Traces are counted at X-Ray's 5 %%. Its rule also records the first request of each second: while there is less than one a second, all are")
	b.line("recorded, and a million cost %s more; that part is at most %s a month. Each further 10 ms of a function of 512 MB are %s a million.",
		dollars(price.Trace.Of(1e6*(1-price.TracedShare))), dollars(price.Trace.Of(price.Month.Seconds())), dollars(price.GBSecond.Of(1e6*price.Billed(10*time.Millisecond, 512))))
	if i.accessLog > 0 {
		b.line("The gateway's access log, if the template's parameter switches it on, is some %.0f bytes a request: %s a million more.", i.accessLog, dollars(price.Log.Of(1e6*i.accessLog)))
	}
}

// million is what a million cost.
func (r costRow) million() float64 { return r.taken.Times(1e6).Dollars() }

// dollars writes an amount of money.
func dollars(amount float64) string { return fmt.Sprintf("$%.2f", amount) }

// amountOf writes a number of units with as many digits as it needs.
func amountOf(n float64) string {
	switch {
	case n == 0:
		return "0"
	case n < 0.1:
		return fmt.Sprintf("%.4f", n)
	case n < 100:
		return fmt.Sprintf("%.2f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// printPrices lists the prices and where they are from.
func (b *bench) printPrices() {
	b.line("")
	b.line("PRICES, and the date of the newest page that was found to state each")
	for _, p := range price.All() {
		seen := p.Seen
		if seen == "" {
			seen = "undated"
		}
		b.line("%-24s $%-8.6g per %s  (%s, %s)", p.Name, p.Dollars, unitOf(p), p.Source, seen)
	}
}
