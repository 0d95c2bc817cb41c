package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"devplatform/infra/local/resources"
)

const template = "template.yaml"

// The metrics that functions write: the metrics of the retry job without deliveries, the ages of the oldest job and
// removal, all others of deliveries, and the metrics of mails that have data while all mails arrive.
const (
	jobMetrics      = 2
	ageMetrics      = 2
	deliveryMetrics = 9
	mailMetrics     = 1
)

// entry is a line of the bill of a month.
type entry struct {
	name  string
	units float64
	price price
}

// billedResources returns the entries for the resources of the template that AWS bills by the month, also of those with
// a condition. The metrics that CloudWatch extracts from logs have data only if the service is used.
func billedResources(path string) (idle, used []entry, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("template: %w", err)
	}
	var parsed struct {
		Resources map[string]struct {
			Type       string    `yaml:"Type"`
			Properties yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(content, &parsed); err != nil {
		return nil, nil, fmt.Errorf("template: %w", err)
	}
	counts := map[string]int{}
	for _, r := range parsed.Resources {
		switch r.Type {
		case "AWS::CloudWatch::Alarm":
			counts[r.Type] += max(1, occurrences(&r.Properties, "MetricStat"))
		case "AWS::Logs::MetricFilter":
			counts[r.Type] += occurrences(&r.Properties, "MetricName")
		default:
			counts[r.Type]++
		}
	}
	return []entry{
		{"alarms", float64(counts["AWS::CloudWatch::Alarm"]), alarm},
		{"composite alarms", float64(counts["AWS::CloudWatch::CompositeAlarm"]), composite},
		{"dashboard", float64(counts["AWS::CloudWatch::Dashboard"]), dashboard},
		{"key of the alarms' topic", float64(counts["AWS::KMS::Key"]), customerKey},
		{"secrets", float64(counts["AWS::SecretsManager::Secret"]), secret},
	}, []entry{{"metrics from logs", float64(counts["AWS::Logs::MetricFilter"]), metric}}, nil
}

// occurrences counts the members with a name, at any depth.
func occurrences(node *yaml.Node, name string) (n int) {
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Value == name {
			n++
		}
		n += occurrences(child, name)
	}
	return n
}

// background returns the entries for the work without users: the polling of queues, and the jobs that are scheduled
// every minute. jobs has the costs of a run by function. Daily jobs cost less than a cent.
func background(s *resources.Stack, jobs map[string]*row) []entry {
	const (
		pollers  = 5 // of Lambda for each queue with a limit of concurrency
		longPoll = 20 * time.Second
		keyLife  = 5 * time.Minute // the time for which DynamoDB keeps the key of a table
	)
	queues := 0
	for _, m := range s.EventSourceMappings {
		if m.Queue != "" {
			queues++
		}
	}
	const runs = float64(month / time.Minute)
	var sum units
	minutely := 0.0
	for _, schedule := range s.Schedules {
		if job := jobs[schedule.Function]; job != nil && schedule.Expression == "rate(1 minute)" {
			minutely++
			sum = sum.plus(runs, job.units)
		}
	}
	sum[traces] = sum[invocations] // less than one request a second: all are recorded
	all := []entry{
		{"receives without a message", float64(queues) * pollers * timesAMonth(longPoll), emptyReceive},
		{"schedule", minutely * runs, schedule},
		{"requests for the key of the tables", minutely * timesAMonth(keyLife), keyRequest},
		{"metrics of the retry job", jobMetrics, metric}, {"metrics of jobs and removals", ageMetrics, metric},
	}
	return append(all, usageEntries("job: ", sum)...)
}

// usageEntries returns the entries for units that are used and have a price.
func usageEntries(prefix string, u units) (all []entry) {
	for i, n := range u {
		if n > 0 && prices[i].dollars > 0 {
			all = append(all, entry{prefix + prices[i].name, n, prices[i]})
		}
	}
	return all
}

// The example is a service whose users work some hours a day.
const (
	exampleUsers  = 1000 // a day
	exampleHours  = 10
	exampleGB     = 5 // stored
	exampleInput  = 6000
	exampleOutput = 800 // tokens of a chat
	// functionSecrets is the number of secrets of all functions: eight functions have the key ring, and two of them
	// another secret.
	functionSecrets = 8 + 2
	// exampleReads is the number of reads of secrets in an hour: two instances of each function read each of its secrets
	// every five minutes.
	exampleReads = 2 * functionSecrets * 12
)

// exampleDay is what a user does in a day.
var exampleDay = []struct {
	times float64
	row   string
}{
	{0.2, "log in"}, {10, "read the current user"}, {8, "list six projects"}, {0.2, "create a project"},
	{8, "read a project with two files"}, {5, "list its files"}, {40, "read 4 KiB"}, {2, "read 100 KiB"}, {25, rowSave},
	{1, "save 100 KiB"}, {1, "batch of 20 new files of 4 KiB"}, {1, "history of a file"}, {5, "feed of 50 events"},
	{1, "comment"}, {6, rowChat}, {6, rowModel}, {30, rowLone}, {1, rowDeploy},
	{100, rowPage},
}

// exampleMonth returns the entries for the usage of the example, and the number of chats.
func exampleMonth(rows map[string]*row) (all []entry, chats float64) {
	days := month.Hours() / 24
	var sum units
	for _, did := range exampleDay {
		n := did.times * exampleUsers * days
		sum = sum.plus(n, rows[did.row].units)
		if did.row == rowChat {
			chats = n
		}
	}
	sum[traces] = traced(sum[invocations], time.Duration(days*exampleHours*float64(time.Hour)))
	return append(usageEntries("use: ", sum), entry{"tables", exampleGB, storage},
		entry{"tables: point-in-time recovery", exampleGB, recovery},
		entry{"reads of secrets", exampleReads * exampleHours * days, secretRead},
		entry{"metrics of deliveries", deliveryMetrics, metric}, entry{"metrics of mails", mailMetrics, metric}), chats
}

// describeDay lists what a user of the example does in a day.
func describeDay() string {
	var parts []string
	for _, did := range exampleDay {
		parts = append(parts, fmt.Sprintf("%g × %s", did.times, did.row))
	}
	return strings.Join(parts, "; ")
}
