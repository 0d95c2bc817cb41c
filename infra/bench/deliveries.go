package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"

	"devplatform/infra/bench/price"
	"devplatform/infra/bench/rig"
)

// pipeline is an assembly with its readers: the way from an event to its deliveries, metered.
type pipeline struct {
	*rig.Assembly
	meter *rig.Meter
	stop  func()
}

func (b *bench) newPipeline(ctx context.Context, name string) (*pipeline, error) {
	p := &pipeline{meter: &rig.Meter{Table: "WebhooksTable", Functions: "Webhook"}}
	dir := filepath.Join(b.scratch, name)
	parts, err := rig.Assemble(ctx, b.binaries, dir, "", p.meter.Watch())
	if err != nil {
		return nil, err
	}
	p.Assembly = parts
	if p.stop, err = parts.ReadTriggers(filepath.Join(dir, "triggers")); err != nil {
		parts.Close()
		return nil, err
	}
	return p, nil
}

func (p *pipeline) end() {
	p.stop()
	p.Close()
}

// deliver measures the consumption of a delivery. If lone is true, each event is made after the previous one has arrived.
// Otherwise, the events are made as fast as possible.
func (p *pipeline) deliver(ctx context.Context, subscribers, events int, lone bool) (rig.Taken, error) {
	h, err := rig.NewHooked(ctx, p.URL, subscribers)
	if err != nil {
		return rig.Taken{}, err
	}
	defer h.Close()
	if _, err := h.Lone(ctx, 1); err != nil { // the first one starts the functions
		return rig.Taken{}, err
	}
	p.meter.Settle()
	h.Receiver.Reset()
	p.meter.Take()
	if lone {
		_, err = h.Lone(ctx, events)
	} else {
		err = h.Touch(events)
	}
	if err == nil {
		err = h.Await(ctx, events)
	}
	if err != nil {
		return rig.Taken{}, err
	}
	p.meter.Settle() // the last attempts are recorded, their messages deleted
	taken := p.meter.Take()
	taken.Traces = taken.Invocations * price.TracedShare
	taken.OutBytes = float64(rig.Sent(h.Receiver.Requests()))
	return taken.Times(1 / float64(events*subscribers)), nil
}

// strangers is how many webhooks others have in the measurement of growth.
const strangers = 100_000

// deliveries shows that a delivery takes the same however many webhooks others have.
func (b *bench) deliveries(ctx context.Context) error {
	p, err := b.newPipeline(ctx, "deliveries")
	if err != nil {
		return err
	}
	defer p.end()
	b.section("A DELIVERY, by the number of webhooks in other workspaces (lone events; calls of and units on the webhooks table)",
		"calls", "reads", "writes", "queue", "invocations", "functions")
	for _, others := range []int{0, strangers} {
		if others > 0 {
			if err := p.populate(ctx, others); err != nil {
				return err
			}
		}
		for _, subscribers := range []int{1, 20} {
			e, err := p.deliver(ctx, subscribers, 80/subscribers, true)
			if err != nil {
				return err
			}
			cells := []any{}
			for _, v := range []float64{e.Calls, e.Reads, e.Writes, e.Queue, e.Invocations} {
				cells = append(cells, fmt.Sprintf("%.2f", v))
			}
			b.row(fmt.Sprintf("%s, %d elsewhere", plural(subscribers, "subscriber"), others), append(cells, fmt.Sprintf("%.2f ms", e.Millis))...)
		}
	}
	return nil
}

// populate puts webhooks of others into the table, twenty a workspace, by way of the SDK.
func (p *pipeline) populate(ctx context.Context, n int) error {
	const writers = 8
	endpoint := p.Endpoint()
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	_, err := rig.Together(writers, func(int) (struct{}, error) {
		for range n / writers / 20 {
			if _, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{p.Table("WebhooksTable"): workspaceOfOthers()},
			}); err != nil {
				return struct{}{}, fmt.Errorf("populate: %w", err)
			}
		}
		return struct{}{}, nil
	})
	return err
}

// workspaceOfOthers is a workspace's twenty webhooks, as they are stored.
func workspaceOfOthers() []types.WriteRequest {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	workspace := "ws_" + ulid.Make().String()
	requests := make([]types.WriteRequest, 20)
	for i := range requests {
		id := "wh_" + ulid.Make().String()
		requests[i].PutRequest = &types.PutRequest{Item: map[string]types.AttributeValue{
			"pk": text("WS#" + workspace), "sk": text("WEBHOOK#" + id), "id": text(id), "workspaceId": text(workspace),
			"url": text("https://hooks.example.com/" + id), "active": &types.AttributeValueMemberBOOL{Value: true},
			"events": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("*")}},
		}}
	}
	return requests
}
