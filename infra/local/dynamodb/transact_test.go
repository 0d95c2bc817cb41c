package dynamodb

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/datafolder"
)

func TestTransactionAllOrNothing(t *testing.T) {
	t.Parallel()
	client := clientOf(t, withTables(t))
	_, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String("hash"), Item: sdkItem{"pk": str("there"), "v": num(1)}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String("range"), Item: sdkItem{"pk": str("new"), "sk": str("s")}}},
		{Update: &types.Update{
			TableName: aws.String("hash"), Key: sdkItem{"pk": str("there")}, UpdateExpression: aws.String("SET v = v + :one"),
			ConditionExpression: aws.String("v = :two"), ExpressionAttributeValues: sdkItem{":one": num(1), ":two": num(2)},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}},
		{ConditionCheck: &types.ConditionCheck{TableName: aws.String("hash"), Key: sdkItem{"pk": str("gone")}, ConditionExpression: aws.String("attribute_exists(pk)")}},
		{Update: &types.Update{
			TableName: aws.String("hash"), Key: sdkItem{"pk": str("other")}, UpdateExpression: aws.String("SET v = w + :one"),
			ExpressionAttributeValues: sdkItem{":one": num(1)},
		}},
	}})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		t.Fatalf("got %v, want a cancelled transaction", err)
	}
	const want = "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ConditionalCheckFailed, ValidationError]"
	if canceled.ErrorMessage() != want {
		t.Errorf("got %s", canceled.ErrorMessage())
	}
	reasons := canceled.CancellationReasons
	if diff := cmp.Diff(sdkItem{"pk": str("there"), "v": num(1)}, reasons[1].Item, ignoreSerde); diff != "" {
		t.Error(diff)
	}
	for i, message := range []string{"", "The conditional request failed", "The conditional request failed", "The provided expression refers to an attribute that does not exist in the item"} {
		if got := aws.ToString(reasons[i].Message); got != message {
			t.Errorf("reason %d: got %q, want %q", i, got, message)
		}
	}
	got, err := client.GetItem(t.Context(), &sdk.GetItemInput{TableName: aws.String("range"), Key: sdkItem{"pk": str("new"), "sk": str("s")}})
	if err != nil || got.Item != nil {
		t.Errorf("a cancelled transaction wrote %v, %v", got.Item, err)
	}
}

func TestTransactionWritesAndReads(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"old"}}}`)
	must(t, db, "TransactWriteItems", `{"TransactItems":[
		{"Put":{"TableName":"hash","Item":{"pk":{"S":"put"},"a":{"S":"a"}},"ConditionExpression":"attribute_not_exists(pk)"}},
		{"Update":{"TableName":"hash","Key":{"pk":{"S":"updated"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"3"}}}},
		{"Delete":{"TableName":"hash","Key":{"pk":{"S":"old"}}}},
		{"ConditionCheck":{"TableName":"range","Key":{"pk":{"S":"a"},"sk":{"S":"b"}},"ConditionExpression":"attribute_not_exists(pk)"}}]}`)
	got := must(t, db, "TransactGetItems", `{"TransactItems":[
		{"Get":{"TableName":"hash","Key":{"pk":{"S":"put"}},"ProjectionExpression":"a"}},
		{"Get":{"TableName":"hash","Key":{"pk":{"S":"updated"}}}},
		{"Get":{"TableName":"hash","Key":{"pk":{"S":"old"}}}},
		{"Get":{"TableName":"range","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}}]}`)
	if want := `{"Responses":[{"Item":{"a":{"S":"a"}}},{"Item":{"n":{"N":"3"},"pk":{"S":"updated"}}},{},{}]}`; got.raw != want {
		t.Errorf("got %s", got.raw)
	}
}

// TestTransactionsAreSerialisable transfers money in concurrent transactions, and checks that readers always see the
// same total.
func TestTransactionsAreSerialisable(t *testing.T) {
	t.Parallel()
	client := clientOf(t, withTables(t))
	const accounts, start = 4, 100
	var gets []types.TransactGetItem
	for i := range accounts {
		key := sdkItem{"pk": str(strconv.Itoa(i))}
		gets = append(gets, types.TransactGetItem{Get: &types.Get{TableName: aws.String("hash"), Key: key}})
		item := sdkItem{"pk": key["pk"], "v": num(start)}
		if _, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String("hash"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	for worker := range 6 {
		group.Go(func() {
			for i := range 20 {
				from, to := (worker+i)%accounts, (worker+2*i+1)%accounts
				if from == to {
					continue
				}
				if err := transfer(t, client, from, to); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 2 {
		group.Go(func() {
			for range 30 {
				out, err := client.TransactGetItems(t.Context(), &sdk.TransactGetItemsInput{TransactItems: gets})
				if err != nil {
					t.Error(err)
					return
				}
				sum := 0
				for _, r := range out.Responses {
					n, _ := strconv.Atoi(r.Item["v"].(*types.AttributeValueMemberN).Value)
					sum += n
				}
				if sum != accounts*start {
					t.Errorf("sum %d, want %d", sum, accounts*start)
				}
			}
		})
	}
	group.Wait()
}

func transfer(t *testing.T, client *sdk.Client, from, to int) error {
	t.Helper()
	move := func(account, amount int) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: aws.String("hash"), Key: sdkItem{"pk": str(strconv.Itoa(account))}, UpdateExpression: aws.String("SET v = v + :n"),
			ExpressionAttributeValues: sdkItem{":n": num(amount)},
		}}
	}
	_, err := client.TransactWriteItems(t.Context(), &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{move(from, -1), move(to, 1)}})
	return err
}

func TestIdempotencyToken(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	db := openTest(t, func(o *Options) { o.Now = clock.Now })
	must(t, db, "CreateTable", hashTable)
	add := func(n int, token string) answer {
		return call(t, db, "TransactWriteItems", fmt.Sprintf(`{"ReturnConsumedCapacity":"TOTAL","ClientRequestToken":%q,"TransactItems":[
			{"Update":{"TableName":"hash","Key":{"pk":{"S":"a"}},"UpdateExpression":"ADD #n :n, #m :n","ExpressionAttributeNames":{"#n":"n","#m":"m"},"ExpressionAttributeValues":{":n":{"N":"%d"}}}}]}`, token, n))
	}
	check := func(want string) {
		t.Helper()
		if got := must(t, db, "GetItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"ProjectionExpression":"n"}`).raw; got != `{"Item":{"n":{"N":"`+want+`"}}}` {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	first, again := add(1, "t"), add(1, "t")
	if first.status != 200 || again.status != 200 {
		t.Fatal(first.raw, again.raw)
	}
	if want := `{"ConsumedCapacity":[{"TableName":"hash","CapacityUnits":2,"ReadCapacityUnits":2}]}`; again.raw != want {
		t.Errorf("replay: got %s", again.raw)
	}
	check("1")
	if got := add(2, "t"); got.errorType() != typeIdempotentMismatch {
		t.Errorf("got %s", got.raw)
	}
	add(1, "u")
	check("2")
	clock.advance(10*time.Minute - time.Second)
	if err := db.sweep(); err != nil {
		t.Fatal(err)
	}
	add(1, "t")
	check("2")
	clock.advance(2 * time.Second)
	add(5, "t") // after ten minutes it is a new transaction
	check("7")
	clock.advance(10*time.Minute + 2*time.Second)
	if err := db.sweep(); err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, space := range []byte{datafolder.SpaceToken, datafolder.SpaceTokenAge} {
		if err := datafolder.Each(db.store.DB, []byte{space}, func(_, _ []byte) error { left++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if left != 0 {
		t.Errorf("%d token records are left after their time", left)
	}
}

// TestTokenOfCancelledTransaction checks that a canceled transaction can be retried with the same token.
func TestTokenOfCancelledTransaction(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	body := `{"ClientRequestToken":"t","TransactItems":[{"Put":{"TableName":"hash","Item":{"pk":{"S":"a"}},"ConditionExpression":"attribute_exists(pk)"}}]}`
	if got := call(t, db, "TransactWriteItems", body); got.status == 200 {
		t.Fatal("not cancelled")
	}
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}}}`)
	must(t, db, "TransactWriteItems", body)
}

// TestTokenRace checks that concurrent requests with one token are executed once. The others get the replay.
func TestTokenRace(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			got := call(t, db, "TransactWriteItems", `{"ClientRequestToken":"t","TransactItems":[
				{"Update":{"TableName":"hash","Key":{"pk":{"S":"a"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}}}}]}`)
			if got.status != 200 {
				t.Error(got.raw)
			}
		})
	}
	group.Wait()
	if got := must(t, db, "GetItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}}}`).raw; got != `{"Item":{"n":{"N":"1"},"pk":{"S":"a"}}}` {
		t.Errorf("got %s", got)
	}
}

// TestTokenOfTwoTransactions checks that of two concurrent transactions with one token and different items, one is
// made.
func TestTokenOfTwoTransactions(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	for n := range 200 {
		var made atomic.Int64
		var group sync.WaitGroup
		for _, key := range []string{"a", "b", "c", "d"} {
			group.Go(func() {
				got := call(t, db, "TransactWriteItems", fmt.Sprintf(`{"ClientRequestToken":"t%d","TransactItems":[
					{"Put":{"TableName":"hash","Item":{"pk":{"S":%q}}}}]}`, n, key))
				if got.status == 200 {
					made.Add(1)
				} else if got.errorType() != typeIdempotentMismatch {
					t.Error(got.raw)
				}
			})
		}
		if group.Wait(); made.Load() != 1 {
			t.Fatalf("token %d: %d transactions were made", n, made.Load())
		}
	}
}

func TestTransactionLimits(t *testing.T) {
	t.Parallel()
	client := clientOf(t, withTables(t))
	puts := func(n, size int) *sdk.TransactWriteItemsInput {
		input := &sdk.TransactWriteItemsInput{}
		for i := range n {
			input.TransactItems = append(input.TransactItems, types.TransactWriteItem{Put: &types.Put{
				TableName: aws.String("hash"), Item: sdkItem{"pk": str(strconv.Itoa(i)), "x": &types.AttributeValueMemberB{Value: make([]byte, size)}},
			}})
		}
		return input
	}
	for _, test := range []struct {
		n, size int
		ok      bool
	}{{100, 1, true}, {101, 1, false}, {11, 350_000, true}, {12, 350_000, false}} {
		_, err := client.TransactWriteItems(t.Context(), puts(test.n, test.size))
		if (err == nil) != test.ok {
			t.Errorf("%d items of %d bytes: %v", test.n, test.size, err)
		}
	}
}
