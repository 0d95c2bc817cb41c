package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"

	"devplatform/infra/bench/rig"
	"devplatform/infra/local/resources"
	"devplatform/infra/local/stack"
	"devplatform/infra/process"
)

// webhookLoad is a row of the section webhooks. If batch is 0, each event is made after the previous one has arrived:
// these are lone events.
type webhookLoad struct {
	name                    string
	webhooks, events, batch int
	rate, cpu               string // goals
}

var webhookLoads = []webhookLoad{
	{"1 webhook, lone events", 1, 50, 0, "", ""},
	{"1 webhook, single changes", 1, 3200, 1, ">= 500", "<= 4 ms"},
	{"1 webhook, batches of 20 files", 1, 6400, rig.MaxBatch, ">= 1000", "<= 2 ms"},
	{"10 webhooks, single changes", 10, 640, 1, ">= 1200", "<= 1.5 ms"},
}

// webhooks measures deliveries to a receiver in this process.
func (b *bench) webhooks(ctx context.Context) error {
	return b.deliver(ctx, "WEBHOOKS, to a receiver on the same machine", 0, webhookLoads...)
}

// deliveries measures two of the loads while other users have many webhooks.
func (b *bench) deliveries(ctx context.Context) error {
	const others = 100_000
	title := fmt.Sprintf("WEBHOOKS, while other users have %d (compare with the section webhooks)", others)
	return b.deliver(ctx, title, others, webhookLoads[0], webhookLoads[2])
}

// deliver measures loads on a platform with a number of webhooks of other users.
func (b *bench) deliver(ctx context.Context, title string, others int, loads ...webhookLoad) error {
	p, err := b.platform(ctx, fmt.Sprintf("webhooks-%d", others))
	if err != nil {
		return err
	}
	defer p.Stop()
	if err := populate(ctx, p.AWS, others); err != nil {
		return err
	}
	section(title, "deliveries/s", "goal", "p50", "p99", "CPU each", "goal")
	for _, l := range loads {
		s, err := newSubscriber(ctx, p.URL, l.webhooks)
		if err != nil {
			return err
		}
		result, cpu, err := s.deliver(ctx, p, l.events, l.batch)
		s.receiver.Close()
		if err != nil {
			return err
		}
		row(l.name, result.perSecond, l.rate, at(result.Histogram, 50), at(result.Histogram, 99), cpu, l.cpu)
	}
	return nil
}

// deliver measures deliveries, and the CPU time of the platform's processes for each of them. For lone events, it
// measures only the latency.
func (s *subscriber) deliver(ctx context.Context, p *process.Process, events, batch int) (load, time.Duration, error) {
	if batch == 0 {
		times, _, err := s.changeOneByOne(ctx, events)
		return load{0, times}, 0, err
	}
	before := process.CPU(p.PID())
	result, err := s.changeInParallel(ctx, events, batch)
	if err != nil {
		return load{}, 0, err
	}
	time.Sleep(500 * time.Millisecond) // the platform stores the last attempts and deletes their messages
	return result, (process.CPU(p.PID()) - before) / time.Duration(result.TotalCount()), nil
}

// populate stores n webhooks of other users, twenty in each workspace.
func populate(ctx context.Context, endpoint string, n int) error {
	s, err := stack.Load(template, stack.Options{Parameters: map[string]string{"AiProvider": "scaffold"}})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Tables, func(t resources.Table) bool { return t.LogicalID == "WebhooksTable" })
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	table := s.Tables[i].Name
	for range n / 20 {
		workspace, requests := "ws_"+ulid.Make().String(), make([]types.WriteRequest, 20)
		for i := range requests {
			id := "wh_" + ulid.Make().String()
			requests[i].PutRequest = &types.PutRequest{Item: map[string]types.AttributeValue{
				"pk": text("WS#" + workspace), "sk": text("WEBHOOK#" + id), "id": text(id), "workspaceId": text(workspace),
				"url": text("https://hooks.example.com/" + id), "active": &types.AttributeValueMemberBOOL{Value: true},
				"events": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("*")}},
			}}
		}
		if _, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: requests},
		}); err != nil {
			return fmt.Errorf("populate: %w", err)
		}
	}
	return nil
}

// simulation runs the simulation of the delivery lanes, which is a test because it calls unexported functions.
func (b *bench) simulation(ctx context.Context) error {
	printf("\nSIMULATION of the delivery lanes: the decision code under a simulated clock\n")
	path := filepath.Join(b.scratch, "simulation.txt")
	command := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=60m", "-run=^TestFullSimulation$",
		"./shared/webhook/delivery")
	command.Env = append(os.Environ(), "SIMULATION="+path)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	table, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the test has written no table: %w", err)
	}
	printf("%s", table)
	return nil
}
