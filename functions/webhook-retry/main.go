// Command webhook-retry is the Lambda function that a schedule starts every minute: it sends messages for deliveries
// that are due, and for deliveries whose message was lost.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
