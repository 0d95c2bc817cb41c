package templatetest_test

import (
	"testing"

	. "devplatform/infra/templatetest"
)

// TestQueuesOfDeliveries checks that the queues of deliveries have the same dead-letter queue and alarms. Messages that
// ask for the creation of deliveries must be kept as long as messages in a failure queue, because nothing else records
// these deliveries.
func TestQueuesOfDeliveries(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	const age, depth = "ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"
	for queue, metrics := range map[string][]string{
		"DeliveriesQueue": {age, depth}, "SlowDeliveriesQueue": {age, depth}, "CreationsQueue": {age},
	} {
		p := tpl.Resources[queue].Properties
		if failures := Name(At(p, "RedrivePolicy", "deadLetterTargetArn")); failures != "DeliveryFailuresQueue" {
			t.Errorf("%s: got the dead-letter queue %q, want DeliveryFailuresQueue", queue, failures)
		}
		for _, metric := range metrics {
			if alarms := alarmsOn(tpl, metric, "QueueName", queue); len(alarms) != 1 {
				t.Errorf("%s: got the alarms %v on %s, want one", queue, alarms, metric)
			}
		}
	}
	if seconds := At(tpl.Resources["CreationsQueue"].Properties, "MessageRetentionPeriod"); seconds != 1_209_600.0 {
		t.Errorf("CreationsQueue keeps messages for %v seconds, want 14 days", seconds)
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
