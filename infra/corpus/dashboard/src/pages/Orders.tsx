import { useMemo, useState } from "react";
import { Columns3, PackageOpen } from "lucide-react";
import { EmptyState } from "@/components/EmptyState";
import { StatusBadge } from "@/components/StatusBadge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Checkbox } from "@/components/ui/checkbox";
import { ContextMenu, ContextMenuContent, ContextMenuItem, ContextMenuTrigger } from "@/components/ui/context-menu";
import {
  DropdownMenu,
  DropdownMenuCheckboxItem,
  DropdownMenuContent,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { Input } from "@/components/ui/input";
import { Pagination } from "@/components/ui/pagination";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { Tabs, TabsList, TabsTrigger } from "@/components/ui/tabs";
import { toast } from "@/components/ui/sonner";
import { orders } from "@/data/sample";
import { money } from "@/lib/utils";

const pageSize = 8;

const Orders = () => {
  const [status, setStatus] = useState("all");
  const [search, setSearch] = useState("");
  const [page, setPage] = useState(1);
  const [selected, setSelected] = useState<string[]>([]);
  const [showDate, setShowDate] = useState(true);

  const found = useMemo(
    () =>
      orders.filter(
        (order) =>
          (status === "all" || order.status === status) &&
          `${order.id} ${order.customer}`.toLowerCase().includes(search.trim().toLowerCase()),
      ),
    [status, search],
  );
  const pages = Math.max(1, Math.ceil(found.length / pageSize));
  const current = Math.min(page, pages);
  const rows = found.slice((current - 1) * pageSize, current * pageSize);
  const toggle = (id: string) =>
    setSelected((ids) => (ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id]));

  return (
    <>
      <h1 className="page-title">Orders</h1>
      <div className="flex flex-wrap items-center gap-3">
        <Tabs value={status} onValueChange={setStatus}>
          <TabsList>
            <TabsTrigger value="all">All</TabsTrigger>
            <TabsTrigger value="paid">Paid</TabsTrigger>
            <TabsTrigger value="pending">Pending</TabsTrigger>
            <TabsTrigger value="refunded">Refunded</TabsTrigger>
          </TabsList>
        </Tabs>
        <Input
          className="max-w-56 sm:ml-auto"
          placeholder="Order or customer"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <DropdownMenu>
          <DropdownMenuTrigger asChild>
            <Button variant="outline" size="icon" aria-label="Columns">
              <Columns3 />
            </Button>
          </DropdownMenuTrigger>
          <DropdownMenuContent align="end">
            <DropdownMenuCheckboxItem checked={showDate} onCheckedChange={setShowDate}>
              Date
            </DropdownMenuCheckboxItem>
          </DropdownMenuContent>
        </DropdownMenu>
      </div>
      <Card>
        {rows.length === 0 ? (
          <EmptyState icon={PackageOpen} title="No order matches">
            Look for another customer, or{" "}
            <button className="text-primary underline" onClick={() => (setSearch(""), setStatus("all"))}>
              show all orders
            </button>
            .
          </EmptyState>
        ) : (
          <Table>
            <TableHeader>
              <TableRow>
                <TableHead className="hidden w-10 sm:table-cell" />
                <TableHead>Order</TableHead>
                <TableHead>Customer</TableHead>
                <TableHead>Status</TableHead>
                {showDate && <TableHead className="hidden sm:table-cell">Date</TableHead>}
                <TableHead className="text-right">Amount</TableHead>
              </TableRow>
            </TableHeader>
            <TableBody>
              {rows.map((order) => (
                <ContextMenu key={order.id}>
                  <ContextMenuTrigger asChild>
                    <TableRow data-state={selected.includes(order.id) ? "selected" : undefined}>
                      <TableCell className="hidden sm:table-cell">
                        <Checkbox
                          aria-label={`Select ${order.id}`}
                          checked={selected.includes(order.id)}
                          onCheckedChange={() => toggle(order.id)}
                        />
                      </TableCell>
                      <TableCell className="whitespace-nowrap font-medium">{order.id}</TableCell>
                      <TableCell>{order.customer}</TableCell>
                      <TableCell>
                        <StatusBadge status={order.status} />
                      </TableCell>
                      {showDate && <TableCell className="hidden text-muted-foreground sm:table-cell">{order.date}</TableCell>}
                      <TableCell className="text-right tabular-nums">{money(order.amount)}</TableCell>
                    </TableRow>
                  </ContextMenuTrigger>
                  <ContextMenuContent>
                    <ContextMenuItem onSelect={() => toast(`A receipt for ${order.id} was sent.`)}>Send receipt</ContextMenuItem>
                    <ContextMenuItem onSelect={() => toggle(order.id)}>Select</ContextMenuItem>
                  </ContextMenuContent>
                </ContextMenu>
              ))}
            </TableBody>
          </Table>
        )}
      </Card>
      <div className="flex flex-wrap items-center justify-between gap-2 text-sm text-muted-foreground">
        <span>
          {selected.length > 0 ? `${selected.length} selected` : `${found.length} orders`}
        </span>
        <Pagination page={current} pages={pages} onChange={setPage} />
      </div>
    </>
  );
};

export default Orders;
