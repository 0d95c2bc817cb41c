// Package mailtest reads the mails that a test caused, from the table of mails.
package mailtest

import (
	"cmp"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"devplatform/shared/config"
	"devplatform/shared/mail"
)

// Stored returns the mails in a table, in the order of their creation, including the mails that will be discarded.
func Stored(t testing.TB, sdk *dynamodb.Client, table string, keys *config.Keys) []mail.Message {
	t.Helper()
	type stored struct {
		id      string
		message mail.Message
	}
	var all []stored
	pages := dynamodb.NewScanPaginator(sdk, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			mailID, message, err := mail.Open(t.Context(), keys, item)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, stored{mailID, message})
		}
	}
	slices.SortFunc(all, func(a, b stored) int { return cmp.Compare(a.id, b.id) })
	messages := make([]mail.Message, len(all))
	for i, s := range all {
		messages[i] = s.message
	}
	return messages
}

// To returns the messages to an address. It keeps their order.
func To(address string, messages []mail.Message) []mail.Message {
	return slices.DeleteFunc(slices.Clone(messages), func(m mail.Message) bool { return m.To != address })
}
