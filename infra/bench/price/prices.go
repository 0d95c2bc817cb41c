// Package price knows what AWS asks and does the arithmetic of a bill. It measures nothing and knows nothing of the product:
// what is billed comes from the caller, in the units that AWS counts.
package price

// Price is one of AWS's list prices: us-east-1, on demand, the first tier, without free allowances and discounts.
type Price struct {
	// Name is what is paid for, Unit what is counted.
	Name, Unit string
	// Dollars is asked for Per units.
	Dollars, Per float64
	// Source is AWS's own page. Seen is the date, as exact as it has one, of the newest page that was found to state the price (looked
	// up in November 2026); "" if no page that states it has a date.
	Source, Seen string
}

// Of is what so many units cost, in dollars.
func (p Price) Of(units float64) float64 { return units / p.Per * p.Dollars }

const (
	million  = 1e6
	gigabyte = 1 << 30
)

// What requests take.
var (
	// Gateway is a request to a REST API; a streamed answer is one for every 10 MB begun.
	Gateway = Price{"gateway", "request", 3.50, million, "aws.amazon.com/api-gateway/pricing", "2025-05"}
	// Invocation is a call of a function, GBSecond its time, in milliseconds begun, times its memory, on arm64.
	Invocation = Price{"invocations", "invocation", 0.20, million, "aws.amazon.com/lambda/pricing", "2024"}
	GBSecond   = Price{"GB-seconds", "GB-second", 13.3334, million, "aws.amazon.com/lambda/pricing", "2024"}
	// Read and Write are request units; a transaction takes twice as many.
	Read  = Price{"reads", "read request unit", 0.125, million, "aws.amazon.com/dynamodb/pricing/on-demand", "2025-07"}
	Write = Price{"writes", "write request unit", 0.625, million, "aws.amazon.com/dynamodb/pricing/on-demand", "2025-07"}
	// Queue is a request to a standard queue whose messages name a group ("fair"): $0.40, and $0.10 for that.
	Queue = Price{"queue", "request, 64 KB begun", 0.50, million, "aws.amazon.com/sqs/pricing", "2026-03"}
	// Log is a line of a log as it comes in.
	Log = Price{"logs", "GB ingested", 0.50, gigabyte, "aws.amazon.com/cloudwatch/pricing", "2026-06"}
	// Trace is a request recorded; see [Traced].
	Trace = Price{"traces", "trace recorded", 5.00, million, "aws.amazon.com/xray/pricing", ""}
	// Out is what leaves for the internet.
	Out = Price{"transfer", "GB out", 0.09, gigabyte, "aws.amazon.com/ec2/pricing/on-demand", "2025-05"}
)

// What is asked by the month, and for what nobody requested.
var (
	Poll     = Price{"empty receives", "request to a queue", 0.40, million, "aws.amazon.com/sqs/pricing", "2026-06"}
	Schedule = Price{"schedules", "invocation by a schedule", 1.00, million, "aws.amazon.com/eventbridge/pricing", "2026-03"}
	Storage  = Price{"storage", "GB-month in tables", 0.25, 1, "aws.amazon.com/dynamodb/pricing/on-demand", ""}
	Recovery = Price{"point-in-time recovery", "GB-month in tables", 0.20, 1, "aws.amazon.com/dynamodb/pricing/on-demand", ""}
	Secret   = Price{"secrets", "secret and month", 0.40, 1, "aws.amazon.com/secrets-manager/pricing", ""}
	Alarm    = Price{"alarms", "metric alarmed on, and month", 0.10, 1, "aws.amazon.com/cloudwatch/pricing", "2026-06"}
	Board    = Price{"dashboards", "dashboard and month", 3.00, 1, "aws.amazon.com/cloudwatch/pricing", "2026-06"}
	Metric   = Price{"custom metrics", "metric and month with data", 0.30, 1, "aws.amazon.com/cloudwatch/pricing", "2026-02"}
	Key      = Price{"key requests", "request for the tables' key", 0.03, 1e4, "aws.amazon.com/kms/pricing", "2026-06"}
)

// What a model asks: Claude Sonnet 4.5 on Bedrock by its global inference profile, the template's default. A regional profile is 10 % dearer.
var (
	InputToken  = Price{"input tokens", "token", 3.00, million, "aws.amazon.com/bedrock/pricing", "2026-02"}
	OutputToken = Price{"output tokens", "token", 15.00, million, "aws.amazon.com/bedrock/pricing", "2026-02"}
)

// All is every price there is, in the order in which they are printed.
func All() []Price {
	return []Price{
		Gateway, Invocation, GBSecond, Read, Write, Queue, Log, Trace, Out,
		Poll, Schedule, Storage, Recovery, Secret, Alarm, Board, Metric, Key, InputToken, OutputToken,
	}
}
