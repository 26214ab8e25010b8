// SPDX-License-Identifier: Apache-2.0
//
// One page for what the tool has to show: which it is, the data says.
import {showComparison} from './compare_page';
import {readData} from './data';
import {showReport} from './report_page';

const data = readData();
if (data.format === 'gpubound.compare.v1') {
  showComparison(data);
} else {
  showReport(data);
}
