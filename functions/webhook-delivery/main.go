// Command webhook-delivery is the Lambda function behind the queue of deliveries: it attempts them, and decides what becomes of each.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
