package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"devplatform/infra/bench/price"
	"devplatform/infra/bench/rig"
	"devplatform/infra/local/stack"
)

// measured is a bench that has measured a row for everything, each of a request, an invocation and 1,000 bytes of log.
func measured() *bench {
	b := &bench{}
	add := func(name string) {
		b.rows = append(b.rows, costRow{name, rig.Taken{Units: price.Units{Gateway: 1, Invocations: 1, LogBytes: 1000}}})
	}
	for _, r := range requests(&rig.Workshop{Projects: make([]string, 4)}, nil) {
		add(r.name)
	}
	for _, load := range deliveryLoads {
		add(load.name)
	}
	add(reqTenSecs)
	add(reqUnheard)
	return b
}

func TestNamesAreOfWhatIsMeasured(t *testing.T) {
	t.Parallel()
	seen := map[string]int{idleSum: 1, exampleSum: 1}
	for _, row := range measured().rows {
		seen[row.name]++
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%q is measured %d times", name, n)
		}
		if len(name) > costName {
			t.Errorf("%q is too long for its column", name)
		}
	}
	for _, did := range exampleDay {
		if seen[did.request] == 0 {
			t.Errorf("a user's day has %q, which is not measured", did.request)
		}
	}
	for _, d := range documented {
		if seen[d.row] == 0 {
			t.Errorf("COSTS.md shows %q, which is not measured", d.row)
		}
	}
}

func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %f, want %f", what, got, want)
	}
}

func total(all []entry) (sum float64) {
	for _, e := range all {
		sum += e.Dollars()
	}
	return sum
}

// Worked out by hand: 3 alarms $0.30, 2 secrets $0.80, a dashboard $3.00, 2 metrics $0.60, 657,000 empty receives $0.2628, 43,800 runs
// $0.0438 and 8,760 requests for a key $0.02628; each run an invocation $0.00876 and 8 reads $0.0438.
func TestIdleMonth(t *testing.T) {
	t.Parallel()
	s := &stack.Stack{
		Schedules:           []stack.Schedule{{Function: "Retry"}},
		EventSourceMappings: []stack.EventSourceMapping{{Queue: "deliveries"}, {Table: "events"}},
	}
	run := rig.Taken{Units: price.Units{Invocations: 1, Reads: 8}}
	same(t, "sum", total(idleMonth(s, inventory{alarms: 3, secrets: 2, dashboards: 1}, run, 2)), 5.08544)
}

// 149.4 things a user and day, 1,000 users, 365/12 days: 4,544,250. At $3.50 and $0.20 a million they are $15.904875 and $0.90885,
// and their 4.544 GB of log (4.232 of 2^30 bytes) $2.11608. Ten hours a day are 1,095,000 s: 1,095,000 traces and 5 % of the other 3,449,250 are $6.3373125.
// 5 GB stored are $2.25, 4 metrics $1.20; 2 routes' metrics $3.00 where the gateway tells them, 2 made of
// logs $0.60.
func TestExampleMonth(t *testing.T) {
	t.Parallel()
	s := &stack.Stack{APIs: []stack.API{{Routes: make([]stack.Route, 2)}}}
	const want = 15.904875 + 0.90885 + 2.116081 + 6.3373125 + 2.25 + 1.20
	all, requests, chats := measured().exampleMonth(s, inventory{}, 4)
	same(t, "requests", requests, 4_544_250)
	same(t, "chats", chats, 182_500)
	same(t, "sum", total(all), want)
	all, _, _ = measured().exampleMonth(s, inventory{detailedMetrics: true, logMetrics: 2}, 4)
	same(t, "sum with more metrics", total(all), want+3.60)
}

func TestInventory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "template.yaml")
	const template = `
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      AccessLogSetting: !If
        - HasAccessLog
        - {DestinationArn: !GetAtt Logs.Arn, Format: '{"a":"$context.ab"}'}
        - !Ref AWS::NoValue
      MethodSettings: [{ResourcePath: /*, MetricsEnabled: true}]
  Plain: {Type: AWS::CloudWatch::Alarm, Properties: {MetricName: Errors}}
  Sum:
    Type: AWS::CloudWatch::Alarm
    Condition: IsProd
    Properties:
      Metrics:
        - {Id: a, MetricStat: {Period: 60}}
        - {Id: b, MetricStat: {Period: 60}}
        - {Id: c, Expression: a + b}
  Keys: {Type: AWS::SecretsManager::Secret}
  Board: {Type: AWS::CloudWatch::Dashboard}
  Faults: {Type: AWS::Logs::MetricFilter, Properties: {MetricTransformations: [{MetricName: Faults}, {MetricName: Tokens}]}}
`
	if err := os.WriteFile(path, []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := takeInventory(path)
	if want := (inventory{alarms: 3, secrets: 1, dashboards: 1, logMetrics: 2, detailedMetrics: true, accessLog: 10 + 26}); err != nil || got != want {
		t.Errorf("takeInventory = %+v, %v, want %+v", got, err, want)
	}
}
