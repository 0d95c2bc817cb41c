package templatetest_test

import (
	"testing"

	. "devplatform/infra/templatetest"
)

// TestLanesOfDeliveries checks that the queues of both lanes have the same dead-letter queue and alarms on the age and
// on the number of their messages. The queue of the slow lane must keep messages as long as a failure queue, because no
// other record remembers deliveries that are not created yet.
func TestLanesOfDeliveries(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	for _, queue := range []string{"DeliveriesQueue", "SlowDeliveriesQueue"} {
		p := tpl.Resources[queue].Properties
		if failures := Name(At(p, "RedrivePolicy", "deadLetterTargetArn")); failures != "DeliveryFailuresQueue" {
			t.Errorf("%s: got the dead-letter queue %q, want DeliveryFailuresQueue", queue, failures)
		}
		for _, metric := range []string{"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"} {
			if alarms := alarmsOn(tpl, metric, "QueueName", queue); len(alarms) != 1 {
				t.Errorf("%s: got the alarms %v on %s, want one", queue, alarms, metric)
			}
		}
	}
	if seconds := At(tpl.Resources["SlowDeliveriesQueue"].Properties, "MessageRetentionPeriod"); seconds != 1_209_600.0 {
		t.Errorf("SlowDeliveriesQueue keeps messages for %v seconds, want 14 days", seconds)
	}
}

// TestIndexAlarm checks that the alarm on throttled writes to an index names an index of its table.
func TestIndexAlarm(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	got := dimensions(tpl.Resources["DueIndexWritesAlarm"])
	for _, index := range List(tpl.Resources[got["TableName"]].Properties["GlobalSecondaryIndexes"]) {
		if Name(At(index, "IndexName")) == got["GlobalSecondaryIndexName"] {
			return
		}
	}
	t.Errorf("the dimensions %v do not name an index", got)
}
