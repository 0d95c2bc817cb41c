package templatetest_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "devplatform/infra/templatetest"
)

const (
	alarmType     = "AWS::CloudWatch::Alarm"
	compositeType = "AWS::CloudWatch::CompositeAlarm"
	stackMetrics  = "AWS::StackName" // the namespace of the metrics of functions and log filters

	wrongActions = "AlarmActions and OKActions must both be the actions of a page, or both be the actions of a ticket"
)

// heartbeats are the metrics that a function reports with each run of a schedule, by function and schedule. They show
// that the schedule runs.
var heartbeats = map[string][]string{
	"WebhookRetryFunction EveryMinute": {"OldestUndelivered"},
	"JobsFunction EveryMinute":         {"OldestJob"},
	"ProjectCleanupFunction Sweep":     {"Sweeps"},
	"ProjectCleanupFunction Removals":  {"OldestRemoval"},
	deployCheck + " Probe":             {"ProbeApi", "ProbeSite"},
}

// recipients are the actions of the alarms that send messages, by severity.
var recipients = map[string]any{
	"page":   []any{ifElse("HasAlarmTopic", "AlarmTopicArn", "AlarmTopic")},
	"ticket": []any{ifElse("HasOwnTopic", "AlarmTopic", "AlarmTopicArn")},
}

// ifElse returns an Fn::If of two references.
func ifElse(condition, yes, no string) any {
	return map[string]any{"Fn::If": []any{condition, map[string]any{"Ref": yes}, map[string]any{"Ref": no}}}
}

// severityOf returns the severity of the messages that an alarm sends when it goes off, and when it is OK again. It
// returns "" if the alarm sends none.
func severityOf(alarm Resource) string {
	for severity, actions := range recipients {
		if reflect.DeepEqual(alarm.Properties["AlarmActions"], actions) &&
			reflect.DeepEqual(alarm.Properties["OKActions"], actions) && alarm.Properties["ActionsEnabled"] == nil {
			return severity
		}
	}
	return ""
}

// childrenOf returns the children of a composite alarm. The alarm goes off if one of its children is in ALARM.
func childrenOf(composite Resource) (children []string) {
	sub, _ := At(composite.Properties, "AlarmRule", "Fn::Sub").([]any)
	if len(sub) != 2 || sub[0] != `ALARM("${Children}")` {
		return nil
	}
	join, _ := At(sub[1], "Children", "Fn::Join").([]any)
	if len(join) != 2 || join[0] != `") OR ALARM("` {
		return nil
	}
	for _, child := range List(join[1]) {
		children = append(children, Name(child))
	}
	return children
}

// parentsOf returns the composite alarms that have an alarm as a child.
func parentsOf(tpl *Template, alarm string) (parents []string) {
	for _, id := range resourcesOf(tpl, compositeType) {
		if slices.Contains(childrenOf(tpl.Resources[id]), alarm) {
			parents = append(parents, id)
		}
	}
	return parents
}

// emittedMetrics returns the names of the custom metrics that exist: a log filter or the code of a function emits them.
func emittedMetrics(t *testing.T, tpl *Template) map[string]bool {
	t.Helper()
	emitted := map[string]bool{}
	for _, id := range resourcesOf(tpl, "AWS::Logs::MetricFilter") {
		for _, transformation := range List(tpl.Resources[id].Properties["MetricTransformations"]) {
			emitted[Name(At(transformation, "MetricName"))] = true
		}
	}
	constant := regexp.MustCompile(`(?m)^(?:\t|const )metric[A-Z]\w+ += "(\w+)"`)
	for _, folder := range []string{"shared", "functions"} {
		err := filepath.WalkDir(filepath.Join(Root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			relative, err := filepath.Rel(Root, path)
			for _, match := range constant.FindAllStringSubmatch(read(t, relative), -1) {
				emitted[match[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return emitted
}

// alarmCheck collects the reasons why alarms of a template would never go off, always be in ALARM, or have no
// recipient.
type alarmCheck struct {
	tpl      *Template
	emitted  map[string]bool
	problems []string
}

func (c *alarmCheck) report(id, format string, args ...any) {
	c.problems = append(c.problems, id+": "+fmt.Sprintf(format, args...))
}

// checkAlarms returns the problems of the alarms of a template.
func checkAlarms(tpl *Template, emitted map[string]bool) []string {
	c := &alarmCheck{tpl: tpl, emitted: emitted}
	metrics := alarmMetrics(tpl)
	for _, id := range resourcesOf(tpl, alarmType) {
		c.recipient(id)
		c.evaluation(id)
		for _, m := range metrics[id] {
			c.metric(id, m)
		}
	}
	for _, id := range resourcesOf(tpl, compositeType) {
		c.composite(id)
	}
	for _, id := range resourcesOf(tpl, "AWS::Serverless::Function") {
		c.schedules(id)
	}
	return c.problems
}

// recipient checks that an alarm either sends messages itself, or is a child of exactly one composite alarm.
func (c *alarmCheck) recipient(id string) {
	p, parents := c.tpl.Resources[id].Properties, parentsOf(c.tpl, id)
	severity := severityOf(c.tpl.Resources[id])
	c.description(id, severity)
	switch {
	case severity == "" && (p["AlarmActions"] != nil || p["OKActions"] != nil):
		c.report(id, wrongActions)
	case severity == "" && len(parents) != 1, severity != "" && len(parents) > 0:
		c.report(id, "sends the messages %q and is a child of %v, want one of both", severity, parents)
	}
}

// description checks that the description begins with the severity, which a message shows. The description of an alarm
// without messages begins with no severity.
func (c *alarmCheck) description(id, severity string) {
	text := Name(c.tpl.Resources[id].Properties["AlarmDescription"])
	begin, _, _ := strings.Cut(text, ": ")
	described := strings.ToLower(begin)
	if recipients[described] == nil {
		described = ""
	}
	if described != severity || text == "" {
		c.report(id, "the description %q does not begin with the severity %q", text, severity)
	}
}

// composite checks a composite alarm: it has children, sends messages, and sends none while the API is down.
func (c *alarmCheck) composite(id string) {
	r := c.tpl.Resources[id]
	children, severity := childrenOf(r), severityOf(r)
	c.description(id, severity)
	if severity == "" {
		c.report(id, wrongActions)
	}
	for _, child := range children {
		if c.tpl.Resources[child].Type != alarmType {
			c.report(id, "the child %s is not an alarm", child)
		}
	}
	if len(children) < 2 {
		c.report(id, "got the children %v, want at least two", children)
	}
	suppressor := Name(r.Properties["ActionsSuppressor"])
	if r.Properties["ActionsSuppressor"] == nil {
		suppressor = ""
	}
	if want := map[bool]string{false: "ApiDownAlarm"}[id == "ApiDownAlarm"]; suppressor != want {
		c.report(id, "got the suppressor %q, want %q", suppressor, want)
	}
}

// evaluation checks that CloudWatch accepts the periods of an alarm, and can evaluate its expression.
func (c *alarmCheck) evaluation(id string) {
	p := c.tpl.Resources[id].Properties
	period, ids, returned := number(p["Period"]), map[string]bool{}, 0
	metrics := List(p["Metrics"])
	for _, m := range metrics {
		ids[Name(At(m, "Id"))] = true
		if At(m, "ReturnData") != false {
			returned++
		}
		if seconds := number(At(m, "MetricStat", "Period")); seconds > 0 {
			if period > 0 && period != seconds {
				c.report(id, "the metrics have different periods")
			}
			period = seconds
		}
	}
	for _, m := range metrics {
		expression, _ := At(m, "Expression").(string)
		for _, name := range regexp.MustCompile(`\b[a-z]\w*\b`).FindAllString(expression, -1) {
			if !ids[name] {
				c.report(id, "the expression uses %s, which is not a metric of the alarm", name)
			}
		}
	}
	if metrics != nil && returned != 1 || len(metrics) > 10 {
		c.report(id, "has %d metrics and returns %d of them, want at most 10 and one", len(metrics), returned)
	}
	limit := 24 * time.Hour
	if period >= 3600 {
		limit *= 7
	}
	periods, datapoints := number(p["EvaluationPeriods"]), number(p["DatapointsToAlarm"])
	if period < 60 || int(period)%60 != 0 || periods < 1 || datapoints > periods || seconds(period*periods) > limit {
		c.report(id, "CloudWatch can't evaluate %v of %v periods of %v s", datapoints, periods, period)
	}
	if p["TreatMissingData"] == nil {
		c.report(id, "has no TreatMissingData")
	}
}

// schedules checks that an alarm notices if a schedule of a function stops, and does not go off while it runs.
func (c *alarmCheck) schedules(function string) {
	events, _ := c.tpl.Resources[function].Properties["Events"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(events)) {
		if At(events[name], "Type") != "ScheduleV2" {
			continue
		}
		p := At(events[name], "Properties")
		interval, err := rate(Name(At(p, "ScheduleExpression")))
		metrics := heartbeats[function+" "+name]
		if err != nil || len(metrics) == 0 {
			c.report(function, "no metric shows that the schedule %s runs (%v)", name, err)
		}
		enabled, _ := At(p, "State", "Fn::If").([]any)
		for _, metric := range metrics {
			c.heartbeat(function, metric, interval, enabled)
		}
	}
}

// heartbeat checks the alarm on a metric that a function reports with each run.
func (c *alarmCheck) heartbeat(function, metric string, interval time.Duration, enabled []any) {
	variables := At(c.tpl.Resources[function].Properties, "Environment", "Variables")
	if logs := c.filteredLogs(metric); logs != "" && logs != strings.TrimSuffix(function, "Function")+"Logs" ||
		logs == "" && Name(At(variables, "METRICS_NAMESPACE")) != stackMetrics {
		c.report(function, "does not report the metric %s", metric)
	}
	alarms := alarmsOn(c.tpl, metric, "", "")
	if len(alarms) != 1 {
		c.report(function, "got the alarms %v on the metric %s, want one", alarms, metric)
		return
	}
	alarm := c.tpl.Resources[alarms[0]]
	p := alarm.Properties
	if p["TreatMissingData"] != "breaching" {
		c.report(alarms[0], "does not go off if %s stops and reports no metric", function)
	}
	if len(enabled) == 3 && !c.implies(alarm.Condition, Name(enabled[0])) {
		c.report(alarms[0], "exists without the schedule of %s, and would always be in ALARM", function)
	}
	period, periods := seconds(number(p["Period"])), int(number(p["EvaluationPeriods"]))
	datapoints := periods
	if n := int(number(p["DatapointsToAlarm"])); n > 0 {
		datapoints = n
	}
	// A run makes one of the periods of its interval OK.
	if runs := int(time.Duration(periods) * period / interval); period < interval && periods-runs >= datapoints {
		c.report(alarms[0], "goes off although %s runs every %v", function, interval)
	}
	if notices := time.Duration(datapoints) * period; notices > max(15*time.Minute, 2*interval) {
		c.report(alarms[0], "notices only after %v that %s stopped, which runs every %v", notices, function, interval)
	}
}

// filteredLogs returns the log group whose filter emits a metric, or "" if no filter emits it.
func (c *alarmCheck) filteredLogs(metric string) string {
	for _, id := range resourcesOf(c.tpl, "AWS::Logs::MetricFilter") {
		p := c.tpl.Resources[id].Properties
		for _, transformation := range List(p["MetricTransformations"]) {
			if Name(At(transformation, "MetricName")) == metric {
				return Name(p["LogGroupName"])
			}
		}
	}
	return ""
}

// implies reports whether a condition can be true only if another condition is true.
func (c *alarmCheck) implies(condition, other string) bool {
	parts := List(At(c.tpl.Conditions[condition], "Fn::And"))
	return condition == other || slices.ContainsFunc(parts, func(part any) bool {
		name, _ := At(part, "Condition").(string)
		return name != "" && c.implies(name, other)
	})
}

func number(value any) float64 {
	n, _ := value.(float64)
	return n
}

func seconds(n float64) time.Duration { return time.Duration(n) * time.Second }

// rate returns the interval of a schedule such as rate(1 minute).
func rate(expression string) (time.Duration, error) {
	var n int
	var unit string
	if _, err := fmt.Sscanf(strings.TrimSuffix(expression, ")"), "rate(%d %s", &n, &unit); err != nil {
		return 0, fmt.Errorf("%s: %w", expression, err)
	}
	units := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}
	return time.Duration(n) * units[strings.TrimSuffix(unit, "s")], nil
}
