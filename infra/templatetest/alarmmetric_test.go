package templatetest_test

import (
	"maps"
	"slices"
	"strings"

	. "devplatform/infra/templatetest"
)

// alarmMetric is a metric that an alarm uses.
type alarmMetric struct {
	namespace, name string
	dimensions      map[string]string
}

// alarmMetrics returns the metrics of each alarm. They are either properties of the alarm, or the input of its
// expression.
func alarmMetrics(tpl *Template) map[string][]alarmMetric {
	all := map[string][]alarmMetric{}
	for _, id := range resourcesOf(tpl, alarmType) {
		metrics := []any{any(tpl.Resources[id].Properties)}
		for _, metric := range List(tpl.Resources[id].Properties["Metrics"]) {
			metrics = append(metrics, At(metric, "MetricStat", "Metric"))
		}
		for _, metric := range metrics {
			if At(metric, "MetricName") == nil {
				continue // an expression, or an alarm with an expression
			}
			m := alarmMetric{Name(At(metric, "Namespace")), Name(At(metric, "MetricName")), map[string]string{}}
			for _, dimension := range List(At(metric, "Dimensions")) {
				m.dimensions[Name(At(dimension, "Name"))] = Name(At(dimension, "Value"))
			}
			all[id] = append(all[id], m)
		}
	}
	return all
}

// metricsOf are the metrics of AWS that alarms use, and the dimensions that they need. The services report these
// metrics in the region of the resource. The metrics of Route 53, CloudFront and billing exist only in us-east-1.
var metricsOf = map[string]map[string][]string{
	"AWS/Lambda": {
		"Errors": {"FunctionName"}, "Duration": {"FunctionName"}, "Throttles": {"FunctionName"},
		"IteratorAge": {"FunctionName"}, "ClaimedAccountConcurrency": nil,
	},
	"AWS/SQS": {
		"ApproximateAgeOfOldestMessage": {"QueueName"}, "ApproximateNumberOfMessagesVisible": {"QueueName"},
	},
	"AWS/DynamoDB":   {"ReadThrottleEvents": {"TableName"}, "WriteThrottleEvents": {"TableName"}},
	"AWS/SES":        {"Reputation.BounceRate": nil, "Reputation.ComplaintRate": nil}, // of the whole account
	"AWS/ApiGateway": {"Count": {"ApiName", "Stage"}, "5XXError": {"ApiName", "Stage"}},
}

// optionalDimensions are dimensions that a metric of the namespace can have, too.
var optionalDimensions = map[string]string{"AWS/Lambda": "Resource", "AWS/DynamoDB": "GlobalSecondaryIndexName"}

// metric checks that the metric of an alarm exists: a resource of the template or the code reports it.
func (c *alarmCheck) metric(id string, m alarmMetric) {
	if m.namespace == stackMetrics {
		if !c.emitted[m.name] || len(m.dimensions) > 0 {
			c.report(id, "nothing emits the metric %s with the dimensions %v", m.name, m.dimensions)
		}
		c.missingData(id, m.name)
		return
	}
	needed, known := metricsOf[m.namespace][m.name]
	if !known {
		c.report(id, "no resource reports the metric %s of %s in its region", m.name, m.namespace)
		return
	}
	dimensions := maps.Clone(m.dimensions)
	for _, name := range needed {
		if dimensions[name] == "" {
			c.report(id, "the metric %s needs the dimension %s", m.name, name)
		}
		delete(dimensions, name)
	}
	delete(dimensions, optionalDimensions[m.namespace])
	if len(dimensions) > 0 || !c.reported(c.tpl.Resources[id].Condition, m) {
		c.report(id, "no resource reports the metric %s with the dimensions %v", m.name, m.dimensions)
	}
	c.missingData(id, m.name)
}

// missingData checks that missing data sets off an alarm only if a function reports the metric with each run.
func (c *alarmCheck) missingData(id, metric string) {
	isHeartbeat := func(metrics []string) bool { return slices.Contains(metrics, metric) }
	if c.tpl.Resources[id].Properties["TreatMissingData"] == "breaching" &&
		!slices.ContainsFunc(slices.Collect(maps.Values(heartbeats)), isHeartbeat) {
		c.report(id, "is in ALARM while the service is not used, because %s is missing then", metric)
	}
}

// reported reports whether a resource of the template reports a metric of AWS with its dimensions. condition is the
// condition of the alarm.
func (c *alarmCheck) reported(condition string, m alarmMetric) bool {
	resource := func(dimension, typ string) (map[string]any, bool) {
		r := c.tpl.Resources[m.dimensions[dimension]]
		return r.Properties, r.Type == typ
	}
	switch m.namespace {
	case "AWS/Lambda":
		if m.name == "ClaimedAccountConcurrency" {
			return len(m.dimensions) == 0
		}
		p, ok := resource("FunctionName", "AWS::Serverless::Function")
		alias, hasAlias := m.dimensions["Resource"]
		if hasAlias && (p["AutoPublishAlias"] != "live" || alias != m.dimensions["FunctionName"]+":live") {
			return false
		}
		return ok && (m.name != "IteratorAge" || hasEvent(p, "DynamoDB"))
	case "AWS/SQS":
		_, ok := resource("QueueName", "AWS::SQS::Queue")
		return ok
	case "AWS/DynamoDB":
		p, ok := resource("TableName", "AWS::DynamoDB::Table")
		index, usesIndex := m.dimensions["GlobalSecondaryIndexName"]
		return ok && (!usesIndex || slices.ContainsFunc(List(p["GlobalSecondaryIndexes"]), func(i any) bool {
			return Name(At(i, "IndexName")) == index
		}))
	case "AWS/SES":
		return true
	case "AWS/ApiGateway":
		return slices.ContainsFunc(resourcesOf(c.tpl, "AWS::Serverless::Api"), func(id string) bool {
			api := c.tpl.Resources[id]
			return Name(api.Properties["Name"]) == m.dimensions["ApiName"] && c.implies(condition, api.Condition) &&
				Name(api.Properties["StageName"]) == strings.TrimSpace(m.dimensions["Stage"])
		})
	}
	return false
}

// hasEvent reports whether a function has an event of a type.
func hasEvent(function map[string]any, typ string) bool {
	events, _ := function["Events"].(map[string]any)
	for _, event := range events {
		if At(event, "Type") == typ {
			return true
		}
	}
	return false
}
