package templatetest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "devplatform/infra/templatetest"
)

// TestAlarmsCanFire checks that every alarm of the template can go off, and that its message reaches a person. It also
// checks that the check finds such mistakes, in changed copies of the template.
func TestAlarmsCanFire(t *testing.T) {
	t.Parallel()
	source := read(t, "template.yaml")
	emitted := emittedMetrics(t, Source(t))
	if problems := checkAlarms(Source(t), emitted); len(problems) > 0 {
		t.Fatalf("the alarms have problems:\n%s", strings.Join(problems, "\n"))
	}
	const noSuppressor = "      ActionsSuppressor: !Ref ApiDownAlarm\n      ActionsSuppressorWaitPeriod: 120\n"
	for name, c := range map[string]struct {
		resource, old, new string // The first occurrence of old after the resource begins is replaced.
		want               string
	}{
		"no code emits the metric": {
			"JobsAgeAlarm", "MetricName: OldestJob", "MetricName: AgeOfJob", "nothing emits",
		},
		"no filter emits the metric": {"AiProviderAlarm", "AiProviderFaults", "AiProviderFailures", "nothing emits"},
		"a dimension that the code does not emit": {
			"OldestUndeliveredAlarm",
			"      Statistic",
			"      Dimensions: [{Name: Lane, Value: fast}]\n      Statistic",
			"nothing emits",
		},
		"a metric that exists only in us-east-1": {
			"AuthErrorsAlarm",
			"Namespace: AWS/Lambda\n      MetricName: Errors",
			"Namespace: AWS/Route53\n      MetricName: HealthCheckStatus",
			"in its region",
		},
		"a metric of another namespace": {"CreationsAgeAlarm", "AWS/SQS", "AWS/Lambda", "in its region"},
		"a function that is not in the template": {
			"AuthSlowAlarm",
			"FunctionName, Value: !Ref AuthFunction",
			"FunctionName, Value: auth",
			"no resource reports",
		},
		"an alias that does not exist": {"AuthErrorsAlarm", ":live", ":prod", "no resource reports"},
		"a function without a stream": {
			"WebhookFanoutAgeAlarm",
			"FunctionName, Value: !Ref WebhookFanoutFunction",
			"FunctionName, Value: !Ref DocsFunction",
			"no resource reports",
		},
		"a queue that is a table": {
			"DeliveriesAgeAlarm", "!GetAtt DeliveriesQueue.QueueName", "!Ref WebhooksTable", "no resource reports",
		},
		"no dimension": {
			"CreationsAgeAlarm", "Name: QueueName,", "Name: Queue,", "needs the dimension QueueName",
		},
		"an unknown index": {"DueIndexWritesAlarm", "Value: due", "Value: overdue", "no resource reports"},
		"another gateway": {
			"GatewayErrorsAlarm", "Value: !Ref AWS::StackName", "Value: !Ref Stage", "no resource reports",
		},
		"a gateway under condition": {
			"SitesGatewayErrorsAlarm", "    Condition: HasSitesDomain\n", "", "no resource reports",
		},
		"an unknown variable": {
			"AiFaultsAlarm", "FILL(provider, 0)", "FILL(model, 0)", "the expression uses model",
		},
		"more than a day": {
			"AuthErrorsAlarm", "EvaluationPeriods: 2", "EvaluationPeriods: 1441", "can't evaluate",
		},
		"too many datapoints": {
			"StorageReadsAlarm", "DatapointsToAlarm: 3", "DatapointsToAlarm: 6", "can't evaluate",
		},
		"half a minute": {"AuthErrorsAlarm", "Period: 60", "Period: 30", "can't evaluate"},

		"no recipient": {
			"SweepAlarm",
			"      AlarmActions: [!If [HasOwnTopic, !Ref AlarmTopic, !Ref AlarmTopicArn]]\n",
			"",
			wrongActions,
		},
		"no message if it is OK": {
			"WorkLateAlarm",
			"      OKActions: [!If [HasAlarmTopic, !Ref AlarmTopicArn, !Ref AlarmTopic]]\n",
			"",
			wrongActions,
		},
		"disabled actions": {
			"ApiDownAlarm",
			"    Properties:\n",
			"    Properties:\n      ActionsEnabled: false\n",
			wrongActions,
		},
		"another recipient":  {"SweepAlarm", "HasOwnTopic", "IsProd", wrongActions},
		"no composite alarm": {"WorkLateAlarm", ", !Ref JobsAgeAlarm", "", "is a child of []"},
		"two composite alarms": {
			"ApiSlowAlarm",
			"!Ref AuthSlowAlarm, ",
			"!Ref AuthSlowAlarm, !Ref AuthErrorsAlarm, ",
			"is a child of [ApiDownAlarm ApiSlowAlarm]",
		},
		"a message and a parent": {
			"ApiSlowAlarm",
			"!Ref AuthSlowAlarm, ",
			"!Ref AuthSlowAlarm, !Ref SweepAlarm, ",
			`sends the messages "ticket" and is a child`,
		},
		"another state": {
			"ApiSlowAlarm", `ALARM("${Children}")`, `OK("${Children}")`, "got the children []",
		},
		"an outage with two pages": {
			"AssistantDownAlarm", noSuppressor, "      ActionsSuppressorWaitPeriod: 120\n", `got the suppressor ""`,
		},
		"the wrong severity": {
			"AssistantDownAlarm", "'Page: ", "'Ticket: ", "does not begin with the severity",
		},

		"a schedule that stops": {
			"JobsAgeAlarm",
			"TreatMissingData: breaching",
			"TreatMissingData: notBreaching",
			"does not go off if JobsFunction stops",
		},
		"a period that is shorter than the schedule": {
			"SweepAlarm", "Period: 21600", "Period: 3600", "goes off although ProjectCleanupFunction runs every 24h",
		},
		"a period that is too long": {
			"SweepAlarm", "EvaluationPeriods: 5", "EvaluationPeriods: 28", "notices only after 168h",
		},
		"a schedule without metric": {
			"WebhookRetryFunction",
			"          METRICS_NAMESPACE: !Ref AWS::StackName\n",
			"",
			"does not report the metric",
		},
		"a new schedule": {
			"AuthFunction",
			"          Type: Api",
			"          Type: ScheduleV2",
			"no metric shows that the schedule Root runs",
		},
		"a probe that is disabled": {
			"ProbeApiAlarm", "Condition: HasProbe\n", "Condition: IsProd\n", "exists without the schedule",
		},
		"a metric that is missing without traffic": {
			"AuthErrorsAlarm", "notBreaching", "breaching", "while the service is not used",
		},
	} {
		begin := strings.Index(source, "\n  "+c.resource+":")
		if begin < 0 || !strings.Contains(source[begin:], c.old) {
			t.Errorf("%s: %s does not contain %q", name, c.resource, c.old)
			continue
		}
		changed := source[:begin] + strings.Replace(source[begin:], c.old, c.new, 1)
		problems := strings.Join(checkAlarms(Parse(t, []byte(changed)), emitted), "\n")
		if !strings.Contains(problems, c.want) {
			t.Errorf("%s: got the problems %q, want %q", name, problems, c.want)
		}
	}
}

// TestOutageSendsOnePage checks which messages CloudWatch sends if alarms go off: an outage sends one page, and other
// problems do not look like an outage.
func TestOutageSendsOnePage(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	storageDown := []string{
		"GatewayErrorsAlarm", "AuthSlowAlarm", "ProjectsSlowAlarm", "SitesGatewayErrorsAlarm", "AiFaultsAlarm",
		"ProbeApiAlarm", "ProjectCleanupErrorsAlarm", "ProjectCleanupFailuresAlarm", "JobsErrorsAlarm",
		"JobsFailuresAlarm", "JobsAgeAlarm", "WebhookFanoutErrorsAlarm",
		"WebhookFanoutFailuresAlarm", "WebhookFanoutAgeAlarm", "WebhookDeliveryErrorsAlarm",
		"WebhookDeliveryFailuresAlarm", "DeliveriesAgeAlarm", "WebhookSlowDeliveryErrorsAlarm",
		"WebhookSlowDeliveryFailuresAlarm", "CreationsAgeAlarm", "WebhookRetryErrorsAlarm",
		"OldestUndeliveredAlarm",
	}
	for name, c := range map[string]struct {
		alarms []string
		want   map[string]string // the messages: their severity, by alarm
	}{
		"DynamoDB is down":           {storageDown, map[string]string{"ApiDownAlarm": "page"}},
		"the API is not reachable":   {[]string{"ProbeApiAlarm"}, map[string]string{"ApiDownAlarm": "page"}},
		"the model provider is down": {[]string{"AiProviderAlarm"}, map[string]string{"AssistantDownAlarm": "page"}},
		"sites are down": {
			[]string{"SitesErrorsAlarm", "SitesGatewayErrorsAlarm"}, map[string]string{"SitesDownAlarm": "page"},
		},
		"deliveries stop": {
			[]string{"OldestUndeliveredAlarm", "DeliveriesAgeAlarm", "WebhookRetryErrorsAlarm"},
			map[string]string{"WorkLateAlarm": "page", "WorkersFailAlarm": "ticket"},
		},
		"two poison messages": {
			[]string{"FanoutFailuresQueueAlarm", "CleanupFailuresQueueAlarm"},
			map[string]string{"FanoutFailuresQueueAlarm": "ticket", "CleanupFailuresQueueAlarm": "ticket"},
		},
	} {
		got := map[string]string{}
		active := func(composite string) bool {
			return slices.ContainsFunc(childrenOf(tpl.Resources[composite]), func(child string) bool {
				return slices.Contains(c.alarms, child)
			})
		}
		for _, id := range resourcesOf(tpl, compositeType) {
			suppressor, _ := At(tpl.Resources[id].Properties, "ActionsSuppressor", "Ref").(string)
			if active(id) && !active(suppressor) {
				got[id] = severityOf(tpl.Resources[id])
			}
		}
		for _, id := range c.alarms {
			if tpl.Resources[id].Type != alarmType {
				t.Errorf("%s: the template has no alarm %s", name, id)
			}
			if severity := severityOf(tpl.Resources[id]); severity != "" {
				got[id] = severity
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: wrong messages (-want +got):\n%s", name, diff)
		}
	}
}
