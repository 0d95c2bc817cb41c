package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"
)

// List prices in us-east-1 in November 2026, in dollars.
const (
	priceRead       = 0.125 / 1e6   // a read request unit, on demand
	priceWrite      = 0.625 / 1e6   // a write request unit, on demand
	priceQueue      = 0.50 / 1e6    // a request to a standard queue, the surcharge of fair queues included
	priceInvocation = 0.20 / 1e6    // an invocation
	priceGBSecond   = 13.3334 / 1e6 // a GB-second on arm64
	functionGB      = 0.5           // template.yaml, MemorySize
)

// effort is what some deliveries took: on the webhooks table, on queues, and in the functions of the pipeline.
type effort struct {
	calls, read, write, queue float64
	invocations, milliseconds float64
}

// pipeline is the assembly with its readers, and meters around it.
type pipeline struct {
	*assembly
	meter *meter
	stop  func()

	mu      sync.Mutex
	invoked effort // invocations and milliseconds alone
}

func (b *bench) newPipeline(ctx context.Context, name string) (*pipeline, error) {
	p := &pipeline{meter: &meter{table: "WebhooksTable"}}
	var apis timed
	parts, err := b.assemble(ctx, name, &apis, func(next http.Handler) http.Handler { p.meter.next = next; return p.meter })
	if err != nil {
		return nil, err
	}
	p.assembly = parts
	p.stop, err = parts.read(filepath.Join(b.scratch, name, "triggers"), func(function string, took time.Duration) {
		if !strings.HasPrefix(function, "Webhook") {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.invoked.invocations++
		p.invoked.milliseconds += float64(took) / float64(time.Millisecond)
	})
	if err != nil {
		parts.close()
		return nil, err
	}
	return p, nil
}

func (p *pipeline) end() {
	p.stop()
	p.close()
}

// take answers the effort since the last time.
func (p *pipeline) take() effort {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.invoked
	p.invoked = effort{}
	e.calls, e.read, e.write = p.meter.take()
	e.queue = p.meter.takeQueue()
	return e
}

// per is the effort per unit of work.
func (e effort) per(n float64) effort {
	return effort{e.calls / n, e.read / n, e.write / n, e.queue / n, e.invocations / n, e.milliseconds / n}
}

// deliver measures the effort of so many events, each made after the one before has arrived or as fast as they can be, from a quiet start to a quiet end.
func (p *pipeline) deliver(ctx context.Context, h *hooked, events int, lone bool) (effort, error) {
	h.receiver.Reset()
	p.take()
	if !lone {
		if err := h.touch(events); err != nil {
			return effort{}, err
		}
	}
	for n := 1; lone && n <= events; n++ {
		if err := h.change(); err != nil {
			return effort{}, err
		}
		if err := h.await(ctx, n); err != nil {
			return effort{}, err
		}
	}
	if err := h.await(ctx, events); err != nil {
		return effort{}, err
	}
	time.Sleep(200 * time.Millisecond) // the last attempts are recorded, their messages deleted
	return p.take().per(float64(events * h.healthy)), nil
}

// deliveries shows what a delivery costs, and whether that grows with webhooks of others.
func (b *bench) deliveries(ctx context.Context) error {
	p, err := b.newPipeline(ctx, "deliveries")
	if err != nil {
		return err
	}
	defer p.end()
	b.printf("\nWhat a delivery takes: calls on the webhooks table, its units, requests to queues, and the functions' time\n")
	b.printf("%-34s %8s %8s %8s %8s %12s %12s\n", "per delivery", "calls", "reads", "writes", "queue", "invocations", "Lambda")
	var bill []effort
	for _, load := range []struct {
		subscribers, events int
		lone                bool
	}{{1, 100, true}, {1, 2000, false}, {10, 20, true}, {10, 400, false}} {
		h, err := newHooked(ctx, p.url, load.subscribers)
		if err != nil {
			return err
		}
		e, err := p.deliver(ctx, h, load.events, load.lone)
		h.close()
		if err != nil {
			return err
		}
		name := "a stream of events"
		if load.lone {
			name = "lone events"
		}
		b.printf("%-34s %s\n", plural(load.subscribers, "subscriber")+", "+name, e)
		bill = append(bill, e)
	}
	b.price(bill[0], bill[len(bill)-1])
	return b.crowded(ctx, p)
}

// String writes the columns of the table.
func (e effort) String() string {
	return fmt.Sprintf("%8.2f %8.2f %8.2f %8.2f %12.2f %9.2f ms", e.calls, e.read, e.write, e.queue, e.invocations, e.milliseconds)
}

// price shows the arithmetic of a million deliveries, for the dearest and the cheapest case.
func (b *bench) price(dear, cheap effort) {
	b.printf("\nA million deliveries at list prices (us-east-1, November 2026)\n")
	b.printf("%-24s %16s %22s %22s\n", "", "price per million", "1 subscriber, lone", "10 subscribers, stream")
	var dearSum, cheapSum float64
	for _, line := range []struct {
		name        string
		price       float64
		dear, cheap float64
	}{
		{"read request units", priceRead, dear.read, cheap.read},
		{"write request units", priceWrite, dear.write, cheap.write},
		{"requests to queues", priceQueue, dear.queue, cheap.queue},
		{"invocations", priceInvocation, dear.invocations, cheap.invocations},
		{"GB-seconds (0.5 GB)", priceGBSecond, dear.milliseconds / 1000 * functionGB, cheap.milliseconds / 1000 * functionGB},
	} {
		b.printf("%-24s %16s %22s %22s\n", line.name, fmt.Sprintf("$%.3f", line.price*1e6),
			fmt.Sprintf("%.3f M  $%6.3f", line.dear, line.dear*line.price*1e6), fmt.Sprintf("%.3f M  $%6.3f", line.cheap, line.cheap*line.price*1e6))
		dearSum += line.dear * line.price * 1e6
		cheapSum += line.cheap * line.price * 1e6
	}
	b.printf("%-24s %16s %22s %22s\n", "sum", "", fmt.Sprintf("$%6.2f", dearSum), fmt.Sprintf("$%6.2f", cheapSum))
}

// strangers is how many webhooks others have in the measurement of growth.
const strangers = 100_000

// crowded delivers for workspaces with 1 and 20 webhooks, with none and with very many webhooks elsewhere.
func (b *bench) crowded(ctx context.Context, p *pipeline) error {
	b.printf("\nThe same with %d webhooks in other workspaces\n", strangers)
	b.printf("%-34s %8s %8s %8s %8s %12s %12s\n", "per delivery", "calls", "reads", "writes", "queue", "invocations", "Lambda")
	for _, others := range []int{0, strangers} {
		if others > 0 {
			if err := p.populate(ctx, others); err != nil {
				return err
			}
		}
		for _, subscribers := range []int{1, 20} {
			h, err := newHooked(ctx, p.url, subscribers)
			if err != nil {
				return err
			}
			e, err := p.deliver(ctx, h, 200/subscribers, true)
			h.close()
			if err != nil {
				return err
			}
			b.printf("%-34s %s\n", fmt.Sprintf("%s, %d elsewhere", plural(subscribers, "subscriber"), others), e)
		}
	}
	return nil
}

// populate puts webhooks of others into the table, twenty a workspace, by way of the SDK.
func (p *pipeline) populate(ctx context.Context, n int) error {
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &p.services, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	var requests []types.WriteRequest
	var workspace string
	for i := range n {
		if i%20 == 0 {
			workspace = "ws_" + ulid.Make().String()
		}
		id := "wh_" + ulid.Make().String()
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
			"pk": text("WS#" + workspace), "sk": text("WEBHOOK#" + id), "id": text(id), "workspaceId": text(workspace),
			"url": text("https://hooks.example.com/" + id), "active": &types.AttributeValueMemberBOOL{Value: true},
			"events": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("*")}},
		}}})
		if len(requests) == 25 || i == n-1 {
			if _, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{p.table("WebhooksTable"): requests},
			}); err != nil {
				return fmt.Errorf("populate: %w", err)
			}
			requests = nil
		}
	}
	return nil
}

// table is the name of a table of the template.
func (a *assembly) table(logicalID string) string {
	for _, t := range a.stack.Tables {
		if t.LogicalID == logicalID {
			return t.Name
		}
	}
	return ""
}
