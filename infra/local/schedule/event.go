package schedule

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"devplatform/infra/local/stack"
)

// event is what both services send where the schedule has no Input:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-run-lambda-schedule.html.
type event struct {
	Version    string   `json:"version"`
	ID         string   `json:"id"`
	DetailType string   `json:"detail-type"`
	Source     string   `json:"source"`
	Account    string   `json:"account"`
	Time       string   `json:"time"`
	Region     string   `json:"region"`
	Resources  []string `json:"resources"`
	// Detail is an empty object from a rule, and a text that holds one from Scheduler.
	Detail any `json:"detail"`
}

// payload is the text that the function gets for one firing, before what Scheduler fills in for each attempt.
func payload(spec stack.Schedule, account, region string, due time.Time) (string, error) {
	if spec.Input != "" {
		return spec.Input, nil
	}
	e := event{
		Version: "0", ID: uuid.NewString(), DetailType: "Scheduled Event", Source: "aws.events", Account: account,
		Time: stamp(due), Region: region, Resources: []string{spec.ARN}, Detail: struct{}{},
	}
	if !spec.Rule {
		e.Source, e.Detail = "aws.scheduler", "{}"
	}
	text, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("write the event: %w", err)
	}
	return string(text), nil
}

// fillIn puts what Scheduler knows about an attempt into its Input; a rule's is a constant.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
func fillIn(text string, spec stack.Schedule, due time.Time, execution string, attempt int) string {
	if spec.Rule {
		return text
	}
	return strings.NewReplacer(
		"<aws.scheduler.schedule-arn>", spec.ARN,
		"<aws.scheduler.scheduled-time>", stamp(due),
		"<aws.scheduler.execution-id>", execution,
		"<aws.scheduler.attempt-number>", strconv.Itoa(attempt),
	).Replace(text)
}

// stamp writes a time as both services do: in UTC, to the second.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// newExecutionID names an attempt as Scheduler does: d32c5kddcf5bb8c3.
func newExecutionID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}
