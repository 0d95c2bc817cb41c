import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Separator } from "@/components/ui/separator";
import { Sheet, SheetContent, SheetDescription, SheetFooter, SheetHeader, SheetTitle } from "@/components/ui/sheet";
import { Textarea } from "@/components/ui/textarea";
import { toast } from "@/components/ui/sonner";
import { orders, type Customer } from "@/data/sample";
import { money } from "@/lib/utils";
import { StatusBadge } from "@/components/StatusBadge";

interface CustomerSheetProps {
  customer: Customer | null;
  onClose: () => void;
}

export function CustomerSheet({ customer, onClose }: CustomerSheetProps) {
  const recent = orders.filter((order) => order.customer === customer?.name).slice(0, 4);
  return (
    <Sheet open={!!customer} onOpenChange={(open) => !open && onClose()}>
      {customer && (
        <SheetContent>
          <SheetHeader>
            <SheetTitle>{customer.name}</SheetTitle>
            <SheetDescription>{customer.email}</SheetDescription>
          </SheetHeader>
          <div className="flex gap-2">
            <Badge variant="secondary">{customer.plan}</Badge>
            <Badge variant="outline">{money(customer.spent)} so far</Badge>
          </div>
          <Separator />
          <ul className="grid gap-3 text-sm">
            {recent.map((order) => (
              <li key={order.id} className="flex items-center justify-between">
                <span>{order.id}</span>
                <StatusBadge status={order.status} />
                <span className="tabular-nums">{money(order.amount)}</span>
              </li>
            ))}
          </ul>
          <Textarea placeholder={`A note about ${customer.company}`} />
          <SheetFooter>
            <Button
              onClick={() => {
                toast(`Your note about ${customer.name} is saved.`);
                onClose();
              }}
            >
              Save note
            </Button>
          </SheetFooter>
        </SheetContent>
      )}
    </Sheet>
  );
}
