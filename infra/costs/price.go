package main

import (
	"math"
	"time"
)

// price is a list price of AWS: us-east-1, on demand, the first tier, without free allowances and discounts.
type price struct {
	name, unit   string
	dollars, per float64 // dollars for per units
	// source is the page below aws.amazon.com. In November 2026, the price was read in a copy of the page. seen is the
	// date of this copy, or "" if it has no date.
	source, seen string
}

// of returns the price of a number of units in dollars.
func (p price) of(units float64) float64 { return units / p.per * p.dollars }

const (
	million  = 1e6
	gigabyte = 1 << 30
	// month is the month that AWS bills: 730 hours.
	month = 730 * time.Hour
)

// The units that requests use.
const (
	gateway = iota
	invocations
	gbSeconds
	reads
	writes
	puts
	gets
	queue
	mails
	logBytes
	traces
	outBytes
	calls // of DynamoDB, which have no price of their own
	unitCount
)

// prices are the prices of these units.
var prices = [unitCount]price{
	gateway:     {"gateway", "request, or 10 MB of a stream", 3.50, million, "api-gateway/pricing", "2025-05"},
	invocations: {"invocations", "invocation", 0.20, million, "lambda/pricing", "2024"},
	gbSeconds:   {"GB-seconds", "GB-second on arm64", 13.3334, million, "lambda/pricing", "2024"},
	reads:       {"reads", "read request unit", 0.125, million, "dynamodb/pricing/on-demand", "2025-07"},
	writes:      {"writes", "write request unit", 0.625, million, "dynamodb/pricing/on-demand", "2025-07"},
	puts:        {"PUT", "PUT or LIST request to S3", 5.00, million, "s3/pricing", ""},
	gets:        {"GET", "GET request to S3", 0.40, million, "s3/pricing", ""},
	queue:       {"queue", "request of 64 KB to a fair queue", 0.50, million, "sqs/pricing", "2026-03"},
	mails:       {"mails", "mail through SES", 0.10, 1e3, "ses/pricing", ""},
	logBytes:    {"logs", "GB ingested", 0.50, gigabyte, "cloudwatch/pricing", "2026-06"},
	traces:      {"traces", "recorded trace", 5.00, million, "xray/pricing", ""},
	calls:       {"calls", "call of DynamoDB", 0, 1, "", ""},
	outBytes:    {"transfer", "GB to the internet", 0.09, gigabyte, "ec2/pricing/on-demand", "2025-05"},
}

// The prices that only the tables of a month use: background work, resources, and the tokens of a model.
var (
	emptyReceive  = price{"empty receives", "request to a queue", 0.40, million, "sqs/pricing", "2026-06"}
	schedule      = price{"schedules", "invocation by a schedule", 1.00, million, "eventbridge/pricing", "2026-03"}
	storage       = price{"storage", "GB-month in tables", 0.25, 1, "dynamodb/pricing/on-demand", ""}
	recovery      = price{"point-in-time recovery", "GB-month in tables", 0.20, 1, "dynamodb/pricing/on-demand", ""}
	secret        = price{"secrets", "secret and month", 0.40, 1, "secrets-manager/pricing", ""}
	secretRead    = price{"reads of secrets", "read", 0.05, 1e4, "secrets-manager/pricing", ""}
	alarm         = price{"alarms", "metric of an alarm, and month", 0.10, 1, "cloudwatch/pricing", "2026-06"}
	composite     = price{"composite alarms", "composite alarm and month", 0.50, 1, "cloudwatch/pricing", "2026-06"}
	dashboard     = price{"dashboards", "dashboard and month", 3.00, 1, "cloudwatch/pricing", "2026-06"}
	metric        = price{"custom metrics", "metric with data, and month", 0.30, 1, "cloudwatch/pricing", "2026-02"}
	customerKey   = price{"keys", "customer managed key and month", 1.00, 1, "kms/pricing", ""}
	keyRequest    = price{"key requests", "request for the key of the tables", 0.03, 1e4, "kms/pricing", "2026-06"}
	inputTokens   = price{"input tokens", "token", 3.00, million, "bedrock/pricing", "2026-02"}
	outputTokens  = price{"output tokens", "token", 15.00, million, "bedrock/pricing", "2026-02"}
	monthlyPrices = []price{
		emptyReceive, schedule, storage, recovery, secret, secretRead, alarm, composite, dashboard, metric, customerKey,
		keyRequest, inputTokens, outputTokens,
	}
)

// units are numbers of the units that requests use.
type units [unitCount]float64

// plus returns u + n × v.
func (u units) plus(n float64, v units) units {
	for i := range u {
		u[i] += n * v[i]
	}
	return u
}

// dollars returns the price of the units.
func (u units) dollars() (sum float64) {
	for i, n := range u {
		sum += prices[i].of(n)
	}
	return sum
}

// gigabyteSeconds returns the GB-seconds of an invocation. AWS rounds its duration up to milliseconds.
func gigabyteSeconds(duration time.Duration, memoryMB int) float64 {
	return math.Ceil(float64(duration)/float64(time.Millisecond)) / 1000 * float64(memoryMB) / 1024
}

// tracedShare is the share of the requests that X-Ray records, in addition to the first of each second.
const tracedShare = 0.05

// traced returns the number of recorded traces of requests that are spread evenly over a period.
func traced(requests float64, period time.Duration) float64 {
	first := math.Min(requests, period.Seconds())
	return first + tracedShare*(requests-first)
}

// timesAMonth returns the number of intervals in a month.
func timesAMonth(interval time.Duration) float64 { return float64(month) / float64(interval) }
