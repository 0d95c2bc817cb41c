// Command webhook-fanout is the Lambda function behind the stream of events: it makes deliveries of them, one for each webhook that
// wants to be told.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
