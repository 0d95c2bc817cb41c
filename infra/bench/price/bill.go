package price

import (
	"math"
	"time"
)

// Units is what something takes of what AWS counts.
type Units struct {
	Gateway     float64 // requests to the gateway
	Invocations float64
	GBSeconds   float64
	Reads       float64 // read request units
	Writes      float64 // write request units
	Queue       float64 // requests to queues
	LogBytes    float64
	Traces      float64
	OutBytes    float64 // to the internet
}

// Line is one component of a bill: so many units at a price.
type Line struct {
	Price Price
	Units float64
}

// Dollars is what the line costs.
func (l Line) Dollars() float64 { return l.Price.Of(l.Units) }

// Lines are the components of what the units cost, always all and in the same order.
func (u Units) Lines() []Line {
	return []Line{
		{Gateway, u.Gateway}, {Invocation, u.Invocations}, {GBSecond, u.GBSeconds}, {Read, u.Reads}, {Write, u.Writes},
		{Queue, u.Queue}, {Log, u.LogBytes}, {Trace, u.Traces}, {Out, u.OutBytes},
	}
}

// Dollars is what the units cost.
func (u Units) Dollars() float64 { return Sum(u.Lines()) }

// Sum is what lines cost together.
func Sum(lines []Line) float64 {
	var sum float64
	for _, l := range lines {
		sum += l.Dollars()
	}
	return sum
}

// Plus is what both take.
func (u Units) Plus(v Units) Units {
	return Units{
		u.Gateway + v.Gateway, u.Invocations + v.Invocations, u.GBSeconds + v.GBSeconds, u.Reads + v.Reads, u.Writes + v.Writes,
		u.Queue + v.Queue, u.LogBytes + v.LogBytes, u.Traces + v.Traces, u.OutBytes + v.OutBytes,
	}
}

// Times is n times the units; of a share of them where n is less than one.
func (u Units) Times(n float64) Units {
	return Units{
		u.Gateway * n, u.Invocations * n, u.GBSeconds * n, u.Reads * n, u.Writes * n,
		u.Queue * n, u.LogBytes * n, u.Traces * n, u.OutBytes * n,
	}
}

// streamedRequest is how much of a streamed answer the gateway bills as one request.
const streamedRequest = 10 << 20

// Requests is as how many requests the gateway bills one whose answer is that long.
func Requests(answer int, streamed bool) float64 {
	if !streamed {
		return 1
	}
	return math.Max(1, math.Ceil(float64(answer)/streamedRequest))
}

// Billed is the GB-seconds of an invocation: each millisecond begun, times the function's memory.
func Billed(took time.Duration, memoryMB int) float64 {
	return math.Max(1, math.Ceil(float64(took)/float64(time.Millisecond))) / 1000 * float64(memoryMB) / 1024
}

// X-Ray's default rule: the first request of each second, and five in a hundred of the others.
const (
	tracedEachSecond = 1
	TracedShare      = 0.05
)

// Traced is how many of so many requests are recorded when they come evenly over that time.
func Traced(requests float64, over time.Duration) float64 {
	first := math.Min(requests, tracedEachSecond*over.Seconds())
	return first + TracedShare*(requests-first)
}

// Month is how long AWS takes a month to be: 730 hours.
const Month = 730 * time.Hour

// Every is how often in a month something happens that happens every so often.
func Every(period time.Duration) float64 { return float64(Month) / float64(period) }

// Tokens is what so many tokens cost, in dollars.
func Tokens(input, output float64) float64 { return InputToken.Of(input) + OutputToken.Of(output) }
