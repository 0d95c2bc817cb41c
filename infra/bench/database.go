package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/bench/rig"
	"devplatform/infra/local/dynamodb"
)

const (
	benchTable   = "bench"
	databaseTime = time.Second
	// hotKeys is the number of items that the point operations spread over.
	hotKeys = 10_000
)

// database measures the embedded DynamoDB through the AWS SDK and loopback HTTP: what a function sees.
func (b *bench) database(ctx context.Context) error {
	b.section("EMBEDDED DYNAMODB, through the AWS SDK (1 KB items; 1 and 16 clients)", "1: calls/s", "p50", "p99", "16: calls/s", "p50", "p99")
	for _, store := range []string{"memory", "disk"} {
		dir := ""
		if store == "disk" {
			dir = filepath.Join(b.scratch, "database")
		}
		if err := b.operations(ctx, store, dir); err != nil {
			return err
		}
	}
	return b.growth(ctx)
}

// openBench opens an engine behind HTTP with one table, and a client for it.
func openBench(ctx context.Context, dir string) (*sdk.Client, func(), error) {
	db, err := dynamodb.Open(dynamodb.Options{Dir: dir, Now: time.Now, Logger: slog.New(slog.DiscardHandler), Region: "us-east-1", Account: "123456789012"})
	if err != nil {
		return nil, nil, err
	}
	server := httptest.NewServer(db)
	closeAll := func() {
		server.Close()
		_ = db.Close()
	}
	client := sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	})
	_, err = client.CreateTable(ctx, &sdk.CreateTableInput{
		TableName: aws.String(benchTable), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		closeAll()
		return nil, nil, fmt.Errorf("create table: %w", err)
	}
	return client, closeAll, nil
}

// What items carry, so that they are of 1 KB, or small where it is their number that counts.
var (
	kilobyte = strings.Repeat("0123456789abcdef", 62)
	little   = strings.Repeat("0123456789", 10)
)

func benchItem(pk, sk, body string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk},
		"body": &types.AttributeValueMemberS{Value: body},
	}
}

func benchKey(n int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "P#" + strconv.Itoa(n)}, "sk": &types.AttributeValueMemberS{Value: "S"},
	}
}

func (b *bench) operations(ctx context.Context, store, dir string) error {
	client, closeAll, err := openBench(ctx, dir)
	if err != nil {
		return err
	}
	defer closeAll()
	if err := fill(ctx, client, hotKeys, kilobyte, func(n int) (string, string) { return "P#" + strconv.Itoa(n), "S" }); err != nil {
		return err
	}
	if err := fill(ctx, client, 20, kilobyte, func(n int) (string, string) { return "LIST", strconv.Itoa(n) }); err != nil {
		return err
	}
	for _, op := range operations(ctx, client) {
		var values []any
		for _, clients := range []int{1, 16} {
			result, err := rig.Drive(clients, databaseTime, func(int) error { return op.do() })
			if err != nil {
				return fmt.Errorf("%s: %w", op.name, err)
			}
			values = append(values, result.PerSecond, result.Latency.At(0.5), result.Latency.At(0.99))
		}
		b.row(op.name+", "+store, values...)
	}
	return nil
}

type operation struct {
	name string
	do   func() error
}

func operations(ctx context.Context, client *sdk.Client) []operation {
	return []operation{
		{"GetItem", func() error {
			_, err := client.GetItem(ctx, &sdk.GetItemInput{TableName: aws.String(benchTable), Key: benchKey(rand.IntN(hotKeys)), ConsistentRead: aws.Bool(true)})
			return err //nolint:wrapcheck // the caller names the operation
		}},
		{"PutItem", func() error {
			_, err := client.PutItem(ctx, &sdk.PutItemInput{TableName: aws.String(benchTable), Item: benchItem("P#"+strconv.Itoa(rand.IntN(hotKeys)), "S", kilobyte)})
			return err //nolint:wrapcheck // the caller names the operation
		}},
		{"Query (20)", func() error { return query(ctx, client, "LIST") }},
		{"Transact (4)", func() error {
			writes := make([]types.TransactWriteItem, 4)
			first := rand.IntN(hotKeys)
			for i := range writes {
				writes[i].Put = &types.Put{TableName: aws.String(benchTable), Item: benchItem("T#"+strconv.Itoa((first+i*997)%hotKeys), strconv.Itoa(i), kilobyte)}
			}
			_, err := client.TransactWriteItems(ctx, &sdk.TransactWriteItemsInput{TransactItems: writes})
			return err //nolint:wrapcheck // the caller names the operation
		}},
	}
}

func query(ctx context.Context, client *sdk.Client, pk string) error {
	out, err := client.Query(ctx, &sdk.QueryInput{
		TableName: aws.String(benchTable), ConsistentRead: aws.Bool(true), Limit: aws.Int32(20),
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}},
	})
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	if len(out.Items) != 20 {
		return fmt.Errorf("query answered %d items", len(out.Items))
	}
	return nil
}

// fill puts n items with 16 writers, 25 items a call.
func fill(ctx context.Context, client *sdk.Client, n int, body string, key func(int) (pk, sk string)) error {
	const writers, batch = 16, 25
	_, err := rig.Together(writers, func(writer int) (struct{}, error) {
		for first := writer * batch; first < n; first += writers * batch {
			var requests []types.WriteRequest
			for i := first; i < min(first+batch, n); i++ {
				pk, sk := key(i)
				requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: benchItem(pk, sk, body)}})
			}
			if _, err := client.BatchWriteItem(ctx, &sdk.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{benchTable: requests}}); err != nil {
				return struct{}{}, fmt.Errorf("fill: %w", err)
			}
		}
		return struct{}{}, nil
	})
	return err
}

// growth shows that a Query costs what it reads, whatever else the table holds.
func (b *bench) growth(ctx context.Context) error {
	b.section("QUERY OF 20 ITEMS of 100 bytes, by the number of items in the table (disk, 1 client)", "p50", "p99")
	client, closeAll, err := openBench(ctx, filepath.Join(b.scratch, "growth"))
	if err != nil {
		return err
	}
	defer closeAll()
	have := 0
	for _, items := range []int{100, 10_000, 1_000_000} {
		from := have
		if err := fill(ctx, client, items-have, little, func(n int) (string, string) { return "G#" + strconv.Itoa((from+n)/20), strconv.Itoa((from + n) % 20) }); err != nil {
			return err
		}
		have = items
		partitions := items / 20
		result, err := rig.Drive(1, databaseTime, func(int) error { return query(ctx, client, "G#"+strconv.Itoa(rand.IntN(partitions))) })
		if err != nil {
			return err
		}
		b.row(plural(items, "item"), result.Latency.At(0.5), result.Latency.At(0.99))
	}
	return nil
}
